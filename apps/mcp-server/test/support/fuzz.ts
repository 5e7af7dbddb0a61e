import { seededRandom } from '@ws/test-fixtures'

const methods = [
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'completion/complete',
  'skills/list',
  'notifications/cancelled',
  'notifications/initialized',
  'no/such/method',
]

/** Messages that are nearly right, the same for the same seed. None of them is larger than 1 MiB. */
export function createFuzzer(seed: number): { next(): Buffer } {
  const random = seededRandom(seed)
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
  let count = 0

  const odd = (): unknown =>
    pick<() => unknown>([
      () => null,
      () => -0.5,
      () => 1e308,
      () => true,
      () => [],
      () => ({}),
      () => '',
      () => '\u0000\u001b[31m\ud800',
      () => 'x'.repeat(Math.floor(random() * 100_000)),
      () => '../'.repeat(1_000),
      () => ({ __proto__: { polluted: true }, constructor: { prototype: {} } }),
      () => Array.from({ length: 1_000 }, () => ({ jsonrpc: '2.0', method: 'ping' })),
    ])()

  const valid = (): Record<string, unknown> => {
    count += 1
    return {
      jsonrpc: '2.0',
      id: `fuzz ${count}`,
      method: pick(methods),
      params: {
        name: pick(['read', 'list', 'find', 'search', 'inspect', 'no_such_tool']),
        arguments: { path: '/workspace/a', pattern: 'x', glob: '*', limit: 3 },
        uri: pick(['workspace:///a', 'workspace:///%zz', 'workspace:', 'file:///etc/passwd', 'skill://x/SKILL.md']),
        ref: { type: 'ref/resource', uri: 'workspace:///{+path}' },
        argument: { name: 'path', value: 'a' },
        protocolVersion: pick(['2025-11-25', '2026-07-28', '1']),
        capabilities: {},
        clientInfo: { name: 'fuzz', version: '1' },
        _meta: pick<unknown>([
          undefined,
          { progressToken: 1 },
          { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
        ]),
      },
    }
  }

  const spoil = (value: Record<string, unknown>, depth: number): void => {
    const keys = Object.keys(value)
    const key = pick(keys.length === 0 ? ['x'] : keys)
    const inner = value[key]
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    if (isObject && depth < 3 && random() < 0.6) return spoil(inner as Record<string, unknown>, depth + 1)
    if (random() < 0.3) delete value[key]
    else value[key] = odd()
  }

  const next = (): Buffer => {
    const kind = random()
    const message = valid()
    if (kind < 0.7) {
      for (let times = Math.ceil(random() * 3); times > 0; times -= 1) spoil(message, 0)
      return Buffer.from(JSON.stringify(message))
    }
    if (kind < 0.75) return Buffer.from(JSON.stringify([message, odd(), valid()]))
    if (kind < 0.8) return Buffer.from(JSON.stringify(odd()))
    if (kind < 0.85) return Buffer.from(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
    if (kind < 0.87)
      return Buffer.from(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
      )
    const bytes = Buffer.from(JSON.stringify(message))
    for (let times = Math.ceil(random() * 8); times > 0; times -= 1) {
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
    }
    // a line is one message
    return Buffer.from(bytes.map((byte) => (byte === 10 ? 32 : byte)))
  }
  return { next }
}
