import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { type Workspace, createWorkspace } from '@ws/core'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'

import { own, type Report, summary } from './measure.ts'
import { makeDirectory, usualRules } from './site.ts'

const count = 10_000

/** Measures the memory of each of 10,000 open workspaces, each with its own adapter, rules and listener. */
export async function measureMemory(report: Report): Promise<void> {
  const owner = ordinaryOwner()
  await using scratch = await createScratchDirectory({ owner })
  for (let index = 0; index < count; index += 1) makeDirectory(join(scratch.path, `t${index}`))
  const open = async (index: number): Promise<Workspace> => {
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: join(scratch.path, `t${index}`), owner }) }],
      rules: usualRules('/'),
    })
    workspace.on('access', () => undefined)
    await workspace.exists('/notes.md')
    return workspace
  }
  // Code that is loaded and compiled once must not count.
  for (let index = 0; index < 200; index += 1) await (await open(index)).close()
  const workspaces: Workspace[] = []
  try {
    const before = held()
    const start = performance.now()
    for (let index = 0; index < count; index += 1) workspaces.push(await open(index))
    const microseconds = ((performance.now() - start) * 1_000) / count
    const kilobytes = (held() - before) / count / 1_024
    const figures = [{ ...summary(own, [kilobytes]), samples: count, microseconds }]
    report({ section: 'memory', name: '10,000 open workspaces, each', against: 'KB', target: 20, figures })
  } finally {
    for (const workspace of workspaces) await workspace.close()
  }
}

export function held(): number {
  if (globalThis.gc === undefined) throw new Error('start Node with --expose-gc')
  for (let round = 0; round < 4; round += 1) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
