import { join } from 'node:path'
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import type { MountOptions, Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { ordinaryOwner, put } from '@ws/test-fixtures'
import type { ScratchDirectory } from '@ws/test-fixtures'
import type { RuleSet } from './rule-sets.ts'

/** A workspace of a set in real directories, which belong to an ordinary user. */
export async function openOnDisk(set: RuleSet, scratch: ScratchDirectory, executor?: Executor): Promise<Workspace> {
  await makeFiles(set, scratch)
  const executors = executor === undefined ? [] : [executor]
  return await createWorkspace({ mounts: mountsOf(set, scratch), rules: set.written, executors })
}

export async function makeFiles(set: RuleSet, { path }: ScratchDirectory): Promise<void> {
  for (const file of set.files) await put(join(path, 'project', file), 'needle', path)
  for (const file of set.mounted) await put(join(path, 'mounted', file.slice(2)), 'needle', path)
}

export function mountsOf(set: RuleSet, { path }: ScratchDirectory): MountOptions[] {
  const owner = ordinaryOwner()
  const local = (name: string) => () => createLocalAdapter({ root: join(path, name), owner })
  const mounts: MountOptions[] = [{ at: set.root, adapter: local('project') }]
  if (set.mounted.length === 0) return mounts
  const at = `${set.root === '/' ? '' : set.root}/m`
  return [...mounts, { at, adapter: local('mounted'), access: 'read-only' }]
}
