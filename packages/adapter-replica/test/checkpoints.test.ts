import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createCheckpoints } from '@ws/snapshots'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { filesOf, machineOf, ownDirectory } from './support/site.ts'

// two sandboxes
describeWith(component('bubblewrap'), 'checkpoints of a replica', () => {
  it('[UN1] [UN3] know what commands and calls changed, and a restore is in the store when it resolves', async () => {
    const store = createMemoryAdapter({ files: { '/kept.txt': 'kept', '/gone.txt': 'gone' } })
    const { replica } = await machineOf(store)
    const checkpoints = createCheckpoints({ stateDirectory: `${await ownDirectory()}/kept` })
    const workspace = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: replica }],
      executors: [createBubblewrapExecutor()],
      checkpoints,
    })
    onTestFinished(() => workspace.close())
    const before = await filesOf(store)
    const { id } = await workspace.checkpoint()
    await workspace.exec('echo new > kept.txt; rm gone.txt; mkdir made; echo made > made/file.txt')
    await workspace.write('/workspace/called.txt', 'called')
    expect((await workspace.changes({ since: id })).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'created /workspace/called.txt',
      'deleted /workspace/gone.txt',
      'changed /workspace/kept.txt',
      'created /workspace/made',
      'created /workspace/made/file.txt',
    ])
    const { kept, undo } = await workspace.restore(id)
    expect(kept).toEqual([])
    expect(await filesOf(store)).toEqual(before)
    await workspace.restore(undo ?? '')
    expect(await filesOf(store)).toMatchObject({ '/kept.txt': 'new\n', '/made/file.txt': 'made\n' })
  })
})
