import { join } from 'node:path'
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import type { MountOptions, Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { ordinaryOwner, put } from '@ws/test-fixtures'
import type { ScratchDirectory } from '@ws/test-fixtures'
import type { RuleSet } from './rule-sets.ts'

/** A workspace of a set in real directories, which belong to an ordinary user. */
export async function openOnDisk(set: RuleSet, { path }: ScratchDirectory, executor?: Executor): Promise<Workspace> {
  const owner = ordinaryOwner()
  const [project, mounted] = [join(path, 'project'), join(path, 'mounted')]
  for (const file of set.files) await put(join(project, file), 'needle', path)
  for (const file of set.mounted) await put(join(mounted, file.slice(2)), 'needle', path)
  const mounts: MountOptions[] = [{ at: set.root, adapter: () => createLocalAdapter({ root: project, owner }) }]
  if (set.mounted.length > 0) {
    const at = `${set.root === '/' ? '' : set.root}/m`
    mounts.push({ at, adapter: () => createLocalAdapter({ root: mounted, owner }), access: 'read-only' })
  }
  return await createWorkspace({ mounts, rules: set.written, executors: executor === undefined ? [] : [executor] })
}
