import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createCheckpoints } from '@ws/snapshots'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { filesOf, machineOf, ownDirectory } from './support/site.ts'

// a sandbox for each
describeWith(component('bubblewrap'), 'checkpoints of a replica', () => {
  for (const at of ['/workspace', '/'] as const)
    it(`[UN1] [UN3] know what commands and calls changed, and a restore is in the store when it resolves: at ${at}`, {
      tags: at === '/' ? ['all'] : [],
    }, async () => {
      const store = createMemoryAdapter({ files: { '/kept.txt': 'kept', '/gone.txt': 'gone' } })
      const { replica } = await machineOf(store)
      const checkpoints = createCheckpoints({ stateDirectory: `${await ownDirectory()}/kept` })
      const workspace = await createWorkspace({
        mounts: [{ at, adapter: replica }],
        executors: [createBubblewrapExecutor({ warm: { keepNames: true } })],
        checkpoints,
      })
      onTestFinished(() => workspace.close())
      const before = await filesOf(store)
      const { id } = await workspace.checkpoint()
      await workspace.exec('echo new > kept.txt; rm gone.txt; mkdir made; echo made > made/file.txt')
      const below = (path: string) => (at === '/' ? path : at + path)
      await workspace.write(below('/called.txt'), 'called')
      expect((await workspace.changes({ since: id })).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
        `created ${below('/called.txt')}`,
        `deleted ${below('/gone.txt')}`,
        `changed ${below('/kept.txt')}`,
        `created ${below('/made')}`,
        `created ${below('/made/file.txt')}`,
      ])
      const { kept, undo } = await workspace.restore(id)
      expect(kept).toEqual([])
      expect(await filesOf(store)).toEqual(before)
      await workspace.restore(undo ?? '')
      expect(await filesOf(store)).toMatchObject({ '/kept.txt': 'new\n', '/made/file.txt': 'made\n' })
    })
})
