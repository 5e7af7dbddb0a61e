import { createServer as createHttpServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import type { RuleViolation } from '@ws/core'
import { type ConnectionReport, unmetFields } from '@ws/core/executor'
import { certificate, component, describeWith, itWith, privateKey } from '@ws/test-fixtures'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '../src/index.ts'
import type { NetworkOptions } from '../src/network/options.ts'
import { isBelow, type Mode, modes, needed, tagsIn, tagsOfWarm, Workbench } from './support/workbench.ts'

/** Everything outside: origins on the loopback of this machine, under names of their own, and a victim that nothing may reach. */
interface Outside {
  readonly ports: { readonly http: number; readonly tls: number; readonly echo: number; readonly victim: number }
  /** Requests and bytes that came. */
  readonly seen: string[]
  readonly close: () => Promise<void>
}

let outside: Outside

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function openOutside(): Promise<Outside> {
  const seen: string[] = []
  const http = createHttpServer((request, response) => {
    seen.push(`http ${request.headers.host} ${request.url}`)
    response.end('plain origin\n')
  })
  const tls = createTlsServer({ key: privateKey, cert: certificate }, (request, response) => {
    seen.push(`https ${request.headers.host} ${request.url}`)
    response.end('tls origin\n')
  })
  const sockets = new Set<Socket>()
  const echo = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.write('echo: ')
    socket.pipe(socket)
  })
  const victim = createServer((socket) => {
    seen.push('victim')
    socket.destroy()
  })
  const ports = {
    http: await listen(http),
    tls: await listen(tls),
    echo: await listen(echo),
    victim: await listen(victim),
  }
  return {
    ports,
    seen,
    async close() {
      for (const server of [http, tls]) server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      for (const server of [http, tls, echo, victim]) await new Promise((resolve) => server.close(resolve))
    },
  }
}

const allow = ['api.test', '*.wild.test', 'db.test:5432', 'other.test']

/** The resolver of these tests: no name of the internet is asked for. */
function networkOf(more: Partial<NetworkOptions> = {}): NetworkOptions {
  const { http, tls, echo } = outside.ports
  const places: Readonly<Record<number, number>> = { 80: http, 443: tls, 5432: echo }
  return {
    allow,
    addresses: ['127.0.0.1'],
    resolve: async (_, port) => [{ address: '127.0.0.1', port: places[port] ?? outside.ports.victim }],
    ...more,
  }
}

async function openBench(
  mode: Mode,
  more: Partial<NetworkOptions> = {},
  options: Pick<BubblewrapExecutorOptions, 'loopback'> = {},
) {
  const bench = await Workbench.create(mode, { network: networkOf(more), ...options })
  onTestFinished(() => bench[Symbol.asyncDispose]())
  outside.seen.length = 0
  return bench
}

beforeAll(async () => {
  outside = await openOutside()
})
afterAll(() => outside.close())

for (const mode of modes) {
  describeWith(
    [...needed[mode], component('perl'), component('python3')],
    `listed hosts (${mode})`,
    { tags: mode === 'warm' ? tagsOfWarm(mode) : tagsIn(mode) },
    () => {
      it('[NW1, NW2] are reached by programs that know nothing of it, and no other host is', async () => {
        const bench = await openBench(mode)
        const reports: ConnectionReport[] = []
        const { stdout, violations } = await bench.run(
          [
            'curl -s http://api.test/1; curl -s -k https://api.test/2',
            'curl -s -k https://any.wild.test/3',
            `python3 -c 'import urllib.request as u; print(u.urlopen("http://api.test/4").read())'`,
            `python3 -c 'import socket; s = socket.create_connection(("db.test", 5432)); s.sendall(b"x"); print(s.recv(6) + s.recv(6))'`,
            'curl -s http://evil.test/ || echo evil $?',
            'curl -s -m 5 http://1.1.1.1/ || echo address',
            'env | grep -ci proxy',
          ].join('\n'),
          { onConnection: (report) => reports.push(report) },
        )
        expect(stdout).toBe(
          ["plain origin\ntls origin\ntls origin\nb'plain origin\\n'\nb'echo: x'", 'evil 6', 'address', '0', ''].join(
            '\n',
          ),
        )
        expect(outside.seen).toEqual([
          'http api.test /1',
          'https api.test /2',
          'https any.wild.test /3',
          'http api.test /4',
        ])
        expect(violations).toEqual([
          {
            rule: 'network',
            kind: 'refused',
            host: 'evil.test',
            reason: expect.any(String),
            remedy: expect.stringContaining('`evil.test`'),
          },
          expect.objectContaining({ kind: 'refused', host: '1.1.1.1', port: 80 }),
        ])
        expect(reports.filter(({ outcome }) => outcome === 'allowed').map(({ entry }) => entry)).toEqual([
          'api.test',
          'api.test',
          '*.wild.test',
          'api.test',
          'db.test:5432',
        ])
      })
    },
  )
}

describeWith([...needed.warm, component('python3')], 'refusals of the kernel', () => {
  const attempt = (lines: readonly string[]) => ['import socket', ...lines].join('\n')
  const to = (family: string, kind: string, place: string, then: string) =>
    `try: s = socket.socket(socket.${family}, socket.${kind}); s.connect(${place}); ${then}\nexcept OSError: pass`
  const tcp = (place: string, family = 'AF_INET') => to(family, 'SOCK_STREAM', place, 's.recv(1)')
  const udp = (place: string) => to('AF_INET', 'SOCK_DGRAM', place, 's.send(b"x"); s.recv(1)')

  it('[NW1] say which place was meant: addresses, other ports, UDP, the loopback; not where a server came later', async () => {
    const bench = await openBench('warm')
    const tried = [
      tcp('("10.1.2.3", 80)'),
      tcp('("10.1.2.3", 8080)'),
      tcp('("2001:db8::1", 443)', 'AF_INET6'),
      tcp('("api.test", 8080)'),
      udp('("8.8.8.8", 53)'),
      udp('("api.test", 443)'),
      tcp('("localhost", 3000)'),
      tcp('("::1", 80)', 'AF_INET6'),
      tcp('("127.0.0.1", 3456)'),
      's = socket.create_server(("127.0.0.1", 3456)); socket.create_connection(("127.0.0.1", 3456))',
    ]
    await bench.file(bench.host('try.py'), attempt(tried))
    const events: ConnectionReport[] = []
    const { violations = [], stderr } = await bench.run('python3 try.py', { onConnection: (one) => events.push(one) })
    expect(stderr).toBe('')
    const told = violations.map((one) => (one.kind === 'refused' ? `${one.host} ${one.port}: ${one.reason}` : one.kind))
    const isAddress = 'is an address, and commands reach hosts by name alone'
    const isDatagram = 'was sent a datagram (UDP), and commands reach hosts by TCP alone'
    const isOwn = 'is the loopback of commands, and nothing listened there'
    expect(told.toSorted()).toEqual([
      `10.1.2.3 8080: ${isAddress}`,
      `10.1.2.3 80: ${isAddress}`,
      `2001:db8::1 443: ${isAddress}`,
      `8.8.8.8 53: ${isDatagram}`,
      `api.test 443: ${isDatagram}`,
      'api.test 8080: is not in the list of hosts that commands may reach',
      `localhost 3000: ${isOwn}`,
      `localhost 80: ${isOwn}`,
    ])
    expect(events.map(({ outcome }) => outcome)).toEqual(told.map(() => 'denied'))
    expect(outside.seen).toEqual([])
  })

  it('[NW1] are told up to a number, and the next command has words of its own', async () => {
    const bench = await openBench('warm')
    const flood = attempt([
      'for port in range(2000, 2400):',
      '  s = socket.socket(); s.settimeout(5); s.connect_ex(("10.1.2.3", port)); s.close()',
    ])
    await bench.file(bench.host('flood.py'), flood)
    const events: ConnectionReport[] = []
    await bench.run('python3 flood.py', { onConnection: (report) => events.push(report) })
    expect(events).toHaveLength(100)
    const { violations } = await bench.run('curl -s http://10.9.9.9:99')
    expect(violations).toMatchObject([{ host: '10.9.9.9', port: 99 }])
  })
})

describeWith([...needed.warm, component('python3')], 'warm commands with a list of hosts', () => {
  it('[NW1] have a network each where that is asked for, though one process makes their sandboxes', async () => {
    const bench = await openBench('warm', {}, { loopback: 'command' })
    const bind = `python3 -c 'import socket, time; s = socket.create_server(("127.0.0.1", 7777)); open("PLACE", "w"); time.sleep(60)' &`
    const heard: string[][] = [[], []]
    const results = await Promise.all(
      heard.map((hosts, number) =>
        bench.run(
          [
            bind.replace('PLACE', `bound-${number}`),
            'until test -e bound-0 -a -e bound-1; do sleep 0.05; done; cat /proc/1/comm',
            'curl -s http://api.test/; curl -s http://evil.test/',
          ].join('\n'),
          { onConnection: ({ host, outcome }) => hosts.push(`${outcome} ${host}`), timeout: 20_000 },
        ),
      ),
    )
    expect(results.map(({ stdout, stderr }) => stdout + stderr)).toEqual(heard.map(() => 'perl\nplain origin\n'))
    expect(heard.map((hosts) => hosts.toSorted())).toEqual(heard.map(() => ['allowed api.test', 'denied evil.test']))
  })
})

for (const mode of ['below', 'warm'] as const) {
  describeWith(
    [...needed[mode], component('perl'), component('python3')],
    `one gate for several commands (${mode})`,
    () => {
      const serve = 'python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1'

      it('[NW1, SV1] reaches listed hosts from each, and each reaches the server of the other', async () => {
        const bench = await openBench(mode)
        const server = await bench.spawn(serve)
        const wait = 'until curl -s -o /dev/null localhost:8123; do sleep 0.05; done'
        for (const round of [1, 2]) {
          const { stdout } = await bench.run(`${wait}; curl -s http://api.test/${round}; curl -s localhost:8123/`)
          expect(stdout).toMatch(/^plain origin\n<!DOCTYPE HTML>/)
        }
        server.kill('SIGKILL')
        await server.wait()
        expect(outside.seen).toEqual(['http api.test /1', 'http api.test /2'])
        expect((await bench.run('curl -s http://api.test/3; curl -s localhost:8123/ || echo $?')).stdout).toBe(
          'plain origin\n7\n',
        )
      })

      it('[NW6] tells a refusal to each command that ran then, and the audit once; alone, to the command', async () => {
        const bench = await openBench(mode)
        const reports: ConnectionReport[][] = [[], []]
        const [first, second] = reports as [ConnectionReport[], ConnectionReport[]]
        const hear = (into: ConnectionReport[]) => ({ onConnection: (one: ConnectionReport) => void into.push(one) })
        const input = Promise.withResolvers<void>()
        const stdin = (async function* () {
          yield Buffer.from('go\n')
          await input.promise
          yield Buffer.from('end\n')
        })()
        const command = 'read -r _; curl -s http://alone.test/; echo did; read -r _; curl -s http://1.2.3.4:5/; true'
        const stays = await bench.spawn(command, { stdin, ...hear(first) })
        for await (const chunk of stays.stdout) if (Buffer.from(chunk).includes('did')) break
        const tried =
          'for i in 1 2; do curl -s http://both.test/; curl -s -m 5 http://10.1.2.3:99/; curl -s localhost:7; done; true'
        const results = [await bench.run(tried, hear(second)), await bench.run(tried, hear(second))]
        input.resolve()
        const told = ({ violations = [] }: { readonly violations?: readonly RuleViolation[] | undefined }) =>
          violations
            .map((one) => (one.kind === 'refused' ? `${one.host}${one.shared ? ' shared' : ''}` : one.kind))
            .toSorted()
        const shared = ['10.1.2.3 shared', 'both.test shared', 'localhost shared']
        expect(results.map(told)).toEqual([shared, shared])
        expect(told(await stays.wait())).toEqual(['1.2.3.4', ...shared.slice(0, 1), 'alone.test', ...shared.slice(1)])
        expect(second).toEqual([])
        expect(first.map(({ host, shared: isShared }) => `${host} ${isShared ?? false}`).toSorted()).toEqual(
          [
            '1.2.3.4 false',
            'alone.test false',
            ...['10.1.2.3', 'both.test', 'localhost'].flatMap((host) =>
              Array.from({ length: 2 }, () => `${host} true`),
            ),
          ].toSorted(),
        )
      })

      it('[NW1] allows each command its bytes, and a flood of one takes no word from the next', async () => {
        const bench = await openBench(mode, { bytes: 2000 })
        const server = await bench.spawn(serve)
        const load = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do curl -s http://api.test/ || echo refused; done'
        for (const _ of [1, 2])
          expect((await bench.run(load)).stdout).toMatch(/^(?:plain origin\n)+.*too|refused|limit/s)
        const flood =
          'import socket\nfor port in range(2000, 2400): s = socket.socket(); s.settimeout(5); s.connect_ex(("10.1.2.3", port)); s.close()'
        await bench.file(bench.host('flood.py'), flood)
        await bench.run('python3 flood.py')
        const { violations } = await bench.run('curl -s http://10.9.9.9:99')
        expect(violations).toMatchObject([{ host: '10.9.9.9', port: 99, shared: true }])
        server.kill('SIGKILL')
        await server.wait()
      })
    },
  )
}

for (const mode of modes.filter(isBelow)) {
  describeWith(
    [...needed[mode], component('perl'), component('python3')],
    `attacks on the list of hosts (${mode})`,
    { tags: mode === 'warm' ? ['deep'] : [] },
    () => {
      it('[NW1, NW3] end inside: names, addresses, SNI, `Host`, UDP, raw and abstract sockets', async () => {
        const bench = await openBench(mode)
        await bench.file(
          bench.host('attack.py'),
          readFileSync(join(import.meta.dirname, 'support/network-attack.py'), 'utf8'),
        )
        const { stdout, stderr, exitCode } = await bench.run(
          `python3 attack.py ${outside.ports.victim} ${outside.ports.http}`,
        )
        expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
        expect(JSON.parse(stdout)).toEqual({})
        expect(outside.seen.filter((line) => !line.includes('api.test'))).toEqual([])
      })

      it('[NW3] the SNI must be the name of the address, and one must be there', async () => {
        const bench = await openBench(mode)
        const { stdout, violations } = await bench.run(
          [
            'curl -sk --connect-to evil.test:443:api.test:443 https://evil.test/ || echo wrong $?',
            'curl -sk --connect-to other.test:443:api.test:443 https://other.test/ || echo other $?',
            'ip=$(getent hosts api.test | cut -d" " -f1); curl -sk https://$ip/ || echo none $?',
            'curl -s -H "Host: evil.test" http://api.test/',
          ].join('\n'),
        )
        expect(stdout).toMatch(/^wrong 35\nother 35\nnone 35\nws: `evil\.test` .*; .*\n$/)
        expect(outside.seen).toEqual([])
        expect(violations?.map((one) => one.kind === 'refused' && `${one.host} ${one.port}`)).toEqual([
          'evil.test 443',
          'other.test 443',
          'api.test 443',
          'evil.test 80',
        ])
      })

      it('[NW3] a name that leads to an address of this machine is dialled only where the operator lists that', async () => {
        for (const addresses of [[], ['10.0.0.0/8'], ['169.254.0.0/16']]) {
          const bench = await openBench(mode, {
            addresses,
            ...(addresses[0]?.startsWith('169') && { resolve: async () => ['169.254.169.254'] }),
          })
          const { stdout } = await bench.run('curl -s http://api.test/')
          expect(stdout).toContain('`api.test` has an address that is not public')
        }
        expect(outside.seen).toEqual([])
      })

      it('[NW1] no flood from inside ends this process or the command, and limits hold', { tags: 'all' }, async () => {
        const bench = await openBench(mode, { connections: 4, idleTimeout: 300 })
        const script = [
          'import socket, os',
          'at = socket.gethostbyname("db.test")',
          'for n in range(5):',
          '  held = []',
          '  for m in range(2000):',
          '    s = socket.socket(); s.setblocking(False); s.connect_ex((at, 5432)); held.append(s)',
          'udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)',
          'for n in range(5000): udp.sendto(os.urandom(64), ("198.18.0.1", 53))',
          'print("flooded")',
        ].join('\n')
        await bench.file(bench.host('flood.py'), script)
        const result = await bench.run(
          'ulimit -n 4096; python3 flood.py; until curl -s http://api.test/after; do sleep 0.1; done',
          { timeout: 20_000 },
        )
        expect(result.stdout).toBe('flooded\nplain origin\n')
        expect(result.violations).toContainEqual(
          expect.objectContaining({ host: 'db.test', reason: expect.stringContaining('4 connections') }),
        )
      })

      it('[NW1] a command that kills all it sees, and leaves its connections open, ends as any other', async () => {
        const bench = await openBench(mode)
        const reports: ConnectionReport[] = []
        const { exitCode } = await bench.run(
          [
            `python3 -c 'import socket, time; s = socket.create_connection(("db.test", 5432)); s.recv(6); open("opened", "w"); time.sleep(60)' &`,
            'until test -e opened; do sleep 0.05; done; kill -9 -1; exit 3',
          ].join('\n'),
          { onConnection: (report) => reports.push(report), timeout: 20_000 },
        )
        expect([3, 137]).toContain(exitCode)
        expect(reports).toMatchObject([{ host: 'db.test', receivedBytes: 6 }])
        expect((await bench.run('curl -s http://api.test/')).stdout).toBe('plain origin\n')
      })
    },
  )
}

describeWith([...needed.below, component('perl')], 'the option `network`', () => {
  it('gives `names`, which neither `kernel` nor `untrusted` takes', async () => {
    const report = await createBubblewrapExecutor({ network: networkOf() }).probe()
    expect(report).toMatchObject({ available: true, guarantees: { network: 'names', sockets: 'kernel' } })
    const unmet = (['untrusted', 'untrusted-by-name'] as const).map((preset) => unmetFields(report.guarantees, preset))
    expect(unmet).toEqual([['network'], []])
    const shared = await createBubblewrapExecutor({ network: 'host' }).probe()
    expect(unmetFields(shared.guarantees, 'untrusted-by-name')).toEqual(['sockets', 'network'])
  })

  it('leaves nothing to reach with an empty list', async () => {
    const bench = await openBench('below', { allow: [] })
    const { stdout } = await bench.run('curl -s http://api.test/ || echo $?')
    expect(stdout).toBe('6\n')
  })

  itWith([component('node')], '[NW2] serves `fetch` of Node without a setting', async () => {
    const bench = await openBench('below')
    const { stdout } = await bench.run(
      `NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1 node -e "fetch('https://api.test/').then((r) => r.text()).then((t) => process.stdout.write(t))"`,
    )
    expect(stdout).toBe('tls origin\n')
  })
})

describe('bad input of `network`', () => {
  const refused = (network: unknown) => () => createBubblewrapExecutor({ network: network as NetworkOptions })
  it.each([
    ['open', /`network` must be `none`, `host`, or an object/],
    [{}, /`network.allow` must be/],
    [{ allow: 'a.test' }, /`network.allow` must be/],
    [{ allow: ['a.test', 7] }, /`network.allow\[1\]` must be a string/],
    [
      { allow: ['https://a.test'] },
      /`network.allow\[0\]` must be a name such as `example.org`, not a URL, got `https:\/\/a.test`/,
    ],
    [{ allow: ['a.test', '127.0.0.1'] }, /`network.allow\[1\]` must be a name, not an address/],
    [{ allow: ['a.test'], requests: [] }, /`network.requests` must be an object, got a list/],
    [
      { allow: ['a.test'], requests: { 'b.test': [] } },
      /`network.requests\["b.test"\]` is for a host that is not in `allow`/,
    ],
    [{ allow: ['a.test'], requests: { 'a.test': [{ metod: 'GET' }] } }, /metod` is not an option/],
    [{ allow: ['a.test'], requests: { 'a.test': [{ match: { path: 'x' } }] } }, /match.path` must be a path such as/],
    [{ allow: ['a.test'], requests: { 'a.test': [{ match: { method: [] } }] } }, /match.method` must be a method/],
    [
      { allow: ['a.test'], requests: { 'a.test': [{ transform: { headers: { Host: 'b.test' } } }] } },
      /must be a name of a header that does not say where the request goes/,
    ],
    [
      { allow: ['a.test'], requests: { 'a.test': [{ transform: { headers: { a: 'my secret\n' } } }] } },
      /must be text without line ends, or a function, got a string/,
    ],
    [
      { allow: ['a.test'], requests: { 'a.test': [{ respond: { status: 99 } }] } },
      /respond.status` must be an integer/,
    ],
    [
      { allow: ['a.test'], requests: { 'a.test': [{ respond: { status: 200 }, transform: {} }] } },
      /\[0\]` has both `transform` and `respond`/,
    ],
    [
      { allow: ['a.test'], authorities: ['mine'] },
      /`network.authorities\[0\]` must be a certificate \(PEM\), got a string/,
    ],
    [{ allow: ['a.test:70000'] }, /`network.allow\[0\]` must have a port from 1 to 65535/],
    [{ allow: ['a.*.test'] }, /`network.allow\[0\]` can have a wildcard only as its whole first label/],
    [{ allow: ['a.test', 'A.test:443'] }, /`network.allow\[1\]` must not repeat the entry `a.test`/],
    [{ allow: [], addresses: ['10.0.0.0/99'] }, /`network.addresses\[0\]` must be an address, or a range/],
    [{ allow: [], connections: 0 }, /`network.connections` must be an integer/],
    [{ allow: [], deny: [] }, /`network.deny` is not an option/],
  ])('is one sentence: %j', (network, message) => {
    expect(refused(network)).toThrow(message)
    expect(refused(network)).toThrow(/^WorkspaceError: EINVAL|EINVAL: createBubblewrapExecutor: [^\n]*$/)
  })
})
