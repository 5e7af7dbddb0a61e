import { createMemoryAdapter } from '@ws/adapter-memory'
import { describe, expect, it } from 'vitest'

import { isPreset, guaranteeFields, unmetFields, type Executor, type Guarantees } from '@ws/core/executor'
import { createWorkspace } from '@ws/core'

const kernel: Guarantees = {
  ...(Object.fromEntries(guaranteeFields.map((field) => [field, 'kernel'])) as unknown as Guarantees),
  apiRules: 'none',
}

describe('a preset of guarantees', () => {
  it.each<[Partial<Guarantees>, string[], string[]]>([
    [{}, [], []],
    [{ network: 'names' }, ['network'], []],
    [{ network: 'none' }, ['network'], ['network']],
    [{ network: 'names', sockets: 'translated' }, ['sockets', 'network'], ['sockets']],
  ])('of a kernel boundary with %j lacks %j, and by name %j', (held, untrusted, byName) => {
    expect(unmetFields({ ...kernel, ...held }, 'untrusted')).toEqual(untrusted)
    expect(unmetFields({ ...kernel, ...held }, 'untrusted-by-name')).toEqual(byName)
  })

  it('is known by its own names alone', () => {
    expect(['untrusted', 'untrusted-by-name', 'toString', '', undefined, {}].map(isPreset)).toEqual([
      ...[true, true],
      ...[false, false, false, false],
    ])
  })

  it('names the other one where a list of hosts is all that is too weak', async () => {
    const report = { available: true, missing: [], howToFix: [], details: {} }
    const executor: Executor = {
      name: 'one',
      kind: 'interpreter',
      probe: async () => ({ ...report, guarantees: { ...kernel, network: 'names' } }),
      attach: () => Promise.reject(new Error('it was chosen')),
    }
    const open = (require: 'untrusted' | 'untrusted-by-name') =>
      createWorkspace({ mounts: [{ at: '/', adapter: createMemoryAdapter() }], executors: [executor], require })
    await expect(open('untrusted')).rejects.toThrow(/network is `names`.*require `untrusted-by-name`/su)
    await expect(open('untrusted-by-name')).rejects.toThrow('it was chosen')
    await expect(open('trusted' as 'untrusted')).rejects.toThrow(
      /`require` must be `untrusted`, `untrusted-by-name`, or/u,
    )
  })
})
