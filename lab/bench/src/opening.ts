import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'

import { compare, own, repeat, type Report } from './measure.ts'
import { runIn } from './site.ts'

const executors = { bubblewrap: () => createBubblewrapExecutor(), proot: () => createProotExecutor() }

/** Measures a fresh executor per workspace against a shared one, and the first command of a workspace against later ones. */
export async function measureOpening(report: Report): Promise<void> {
  const owner = ordinaryOwner()
  const scratch = await createScratchDirectory({ owner })
  const open = (executor: Executor): Promise<Workspace> =>
    createWorkspace({
      mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: scratch.path, owner }) }],
      executors: [executor],
    })
  try {
    for (const [name, create] of Object.entries(executors)) {
      const shared = create()
      await using kept = await open(shared)
      const openAndClose = (executor: () => Executor) => repeat(async () => await (await open(executor())).close())
      report(
        await compare('opening', {
          name: `open a workspace, ${name}`,
          reference: { name: 'one executor for all', run: openAndClose(() => shared) },
          ways: [{ name: own, run: openAndClose(create) }],
          count: 5,
          target: 1.3,
        }),
      )
      await runIn(kept)
      let fresh = await open(create())
      const before = async (): Promise<void> => {
        await fresh.close()
        fresh = await open(create())
      }
      report(
        await compare('opening', {
          name: `first command, ${name}`,
          reference: { name: 'a later command', run: () => runIn(kept) },
          ways: [{ name: own, run: () => runIn(fresh), before }],
          count: 1,
          target: 1.5,
        }),
      )
      await fresh.close()
    }
  } finally {
    await scratch.remove()
  }
}
