import { createWorkspace, type Workspace } from '@ws/core'
import { operations } from '@ws/core/adapter'
import { check, equal, rejects } from '../assert.ts'
import { encode } from './case.ts'
import type { Suite } from './suite.ts'

type Operation = keyof typeof operations
type OperationCapability = Extract<(typeof operations)[Operation], { readonly capability: string }>['capability']

const promised = Map.groupBy(
  (Object.keys(operations) as Operation[]).filter((name) => 'capability' in operations[name]),
  (name) => (operations[name] as { readonly capability: OperationCapability }).capability,
)

/** A workspace call that needs each capability. A capability without an entry is used only by executors, or not at all. */
const asked: { readonly [Name in OperationCapability]?: (workspace: Workspace) => Promise<unknown> } = {
  append: (workspace) => workspace.append('/file', encode('x')),
  symlinks: (workspace) => workspace.createSymlink('/link', 'file'),
  search: (workspace) => Array.fromAsync(workspace.search('x')),
  chmod: (workspace) => workspace.chmod('/file', 0o600),
  utimes: (workspace) => workspace.utimes('/file', { modifiedAt: 1_000 }),
}

export function presenceTests({ describe, test }: Suite): void {
  describe('capabilities', () => {
    test('are plain data, complete, and do not change', {}, async (it) => {
      const before = JSON.stringify(it.adapter.capabilities)
      equal(JSON.parse(before), it.adapter.capabilities, 'the capabilities after JSON')
      for (const name of [
        'readOnly',
        ...promised.keys(),
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

    for (const [capability, methods] of promised) {
      const ask = asked[capability]
      test(`${methods.toSorted().join(', ')}: there exactly where the capability says so`, {}, async (it) => {
        for (const method of methods) {
          const present = typeof it.adapter[method] === 'function'
          equal(present, it.capabilities[capability], `\`${method}\` being there, with ${capability},`)
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
