import { createWorkspace, type Workspace } from '@ws/core'
import type { AdapterCapabilities, StorageAdapter } from '@ws/core/adapter'
import { check, equal, rejects } from '../assert.ts'
import { encode } from './case.ts'
import type { Suite } from './suite.ts'

interface Optional {
  readonly capability: keyof AdapterCapabilities
  readonly methods: readonly (keyof StorageAdapter)[]
  /**
   * Calls the operation through a workspace on the adapter; absent where the workspace can do without the operation.
   */
  readonly ask?: (workspace: Workspace) => Promise<unknown>
}

const optional: readonly Optional[] = [
  { capability: 'append', methods: ['append'], ask: (workspace) => workspace.append('/file', encode('x')) },
  {
    capability: 'symlinks',
    methods: ['createSymlink', 'readSymlink'],
    ask: (workspace) => workspace.createSymlink('/link', 'file'),
  },
  { capability: 'search', methods: ['search'], ask: (workspace) => Array.fromAsync(workspace.search('x')) },
  { capability: 'flush', methods: ['flush'] },
  { capability: 'hostPath', methods: ['hostPath', 'hostDirectory'] },
]

export function presenceTests({ describe, test }: Suite): void {
  describe('capabilities', () => {
    test('are plain data, complete, and do not change', {}, async (it) => {
      const before = JSON.stringify(it.adapter.capabilities)
      equal(JSON.parse(before), it.adapter.capabilities, 'the capabilities after JSON')
      for (const name of [
        'readOnly',
        ...optional.map(({ capability }) => capability),
        'modes',
        'caseSensitive',
        'controlCharacters',
        'uniqueVersions',
      ] as const) {
        check(typeof it.capabilities[name] === 'boolean', `\`${name}\` is ${String(it.capabilities[name])}`)
      }
      const { maxNameBytes, maxPathBytes, maxStaleness } = it.capabilities
      check(maxNameBytes > 0 && maxPathBytes >= maxNameBytes && maxStaleness >= 0, 'a limit is not positive')
      await it.put('/a')
      equal(JSON.stringify(it.adapter.capabilities), before)
      check(it.adapter.name !== '', 'the name is empty')
      for (const secret of it.fixture.secrets ?? [])
        check(!it.adapter.name.includes(secret), `the name tells ${secret}`)
    })

    for (const { capability, methods, ask } of optional) {
      test(`${methods.map(String).join(', ')}: there exactly where the capability says so`, {}, async (it) => {
        for (const method of methods) {
          const present = typeof it.adapter[method] === 'function'
          equal(present, it.capabilities[capability], `\`${String(method)}\` being there, with ${capability},`)
        }
      })

      if (ask === undefined) continue
      test(`${capability}: absent, a workspace answers ENOTSUP`, {
        [capability]: false,
        readOnly: false,
      }, async (it) => {
        await it.put('/file', 'x')
        const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: it.adapter }], scratch: false })
        try {
          await rejects(ask(workspace), 'ENOTSUP')
        } finally {
          await workspace.close()
        }
      })
    }
  })
}
