import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { Version, VirtualPath } from '@ws/core'

import type { Call, Change } from '../session/session.ts'
import type { PlannedChange } from './plan-files.ts'

export interface Committed {
  readonly change: Change
  /** Rejects if the file changed after the commit. An abort does not stop the undo. */
  readonly undo: () => Promise<unknown>
}

/** Makes the change and adds it to `done`. After a lost answer, adds it only if the file shows it. @throws WorkspaceError `ECONFLICT` */
export async function commit(call: Call, planned: PlannedChange, done: Committed[]): Promise<void> {
  switch (planned.type) {
    case 'create':
      return create(call, planned, done)
    case 'update':
      return update(call, planned, done)
    case 'move':
      return move(call, planned, done)
    case 'delete':
      return remove(call, planned, done)
  }
}

type Planned<Type extends PlannedChange['type']> = Extract<PlannedChange, { type: Type }>

async function create(call: Call, { path, content, parents }: Planned<'create'>, done: Committed[]): Promise<void> {
  const { workspace, signal } = call
  const add = (after: Version): void => {
    done.push({
      change: { change: 'created', path, after },
      undo: async () => {
        await deleteVersion(call, path, after)
        await removeEmpty(call, parents)
      },
    })
  }
  try {
    add((await workspace.write(path, content, { ifVersion: 'absent', signal })).version)
  } catch (error) {
    const after = await lateVersion(call, error, path, content)
    if (after === undefined) await removeEmpty(call, parents)
    else add(after)
    throw error
  }
}

async function update(call: Call, { path, before, old, content }: Planned<'update'>, done: Committed[]): Promise<void> {
  const { workspace, signal } = call
  const add = (after: Version): void => {
    done.push({
      change: { change: 'updated', path, before, after },
      undo: () => workspace.write(path, old, { ifVersion: after }),
    })
  }
  try {
    add((await workspace.write(path, content, { ifVersion: before, signal })).version)
  } catch (error) {
    const after = await lateVersion(call, error, path, content)
    if (after !== undefined && after !== before) add(after)
    throw error
  }
}

async function move(call: Call, { path, to, before, parents }: Planned<'move'>, done: Committed[]): Promise<void> {
  const { signal } = call
  // this call may have changed the content of the same file before
  const source = done.find(({ change }) => change.path === path)?.change.after ?? before
  const add = (after: Version): void => {
    done.push({
      change: { change: 'moved', path: to, from: path, before, after },
      undo: async () => {
        await moveVersion(call, to, path, after)
        await removeEmpty(call, parents)
      },
    })
  }
  try {
    add(await moveVersion(call, path, to, source, signal))
  } catch (error) {
    const there = await versionAt(call, to)
    if (there !== undefined && (await isGone(call, path))) add(there)
    else await removeEmpty(call, parents)
    throw error
  }
}

async function remove(call: Call, { path, before, old }: Planned<'delete'>, done: Committed[]): Promise<void> {
  const { workspace, signal } = call
  const add = (): void => {
    done.push({
      change: { change: 'deleted', path, before },
      undo: () =>
        'target' in old
          ? workspace.createSymlink(path, old.target)
          : workspace.write(path, old.bytes, { ifVersion: 'absent', mode: old.mode }),
    })
  }
  try {
    await deleteVersion(call, path, before, signal)
    add()
  } catch (error) {
    // if the call was aborted or got no answer, the entry may be deleted all the same
    const isUnclear = !isWorkspaceError(error) || error.code === 'EIO' || error.code === 'ETIMEDOUT'
    if (isUnclear && (await isGone(call, path))) add()
    throw error
  }
}

async function lateVersion(
  { workspace }: Call,
  error: unknown,
  path: VirtualPath,
  content: Uint8Array,
): Promise<Version | undefined> {
  if (isWorkspaceError(error, 'ECONFLICT') || isWorkspaceError(error, 'EEXIST')) return undefined
  const found = await workspace.read(path).catch(() => undefined) // if the read fails too, nothing proves that the content was written
  return found !== undefined && Buffer.compare(found.bytes, content) === 0 ? found.stat.version : undefined
}

/** `undefined` also if `stat` fails: the caller reports an earlier error, or the conflict. */
async function versionAt({ workspace }: Call, path: VirtualPath): Promise<Version | undefined> {
  return (await workspace.stat(path).catch(() => undefined))?.version
}

/** True only for `ENOENT`. After any other failure of `stat`, the entry may still exist. */
async function isGone({ workspace }: Call, path: VirtualPath): Promise<boolean> {
  return workspace.stat(path).then(
    () => false,
    (error: unknown) => isWorkspaceError(error, 'ENOENT'),
  )
}

async function deleteVersion(call: Call, path: VirtualPath, version: Version, signal?: AbortSignal): Promise<void> {
  try {
    await call.workspace.delete(path, { ifVersion: version, signal })
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOTSUP')) throw error
    await compareVersion(call, path, version)
    await call.workspace.delete(path, { signal })
  }
}

async function moveVersion(
  call: Call,
  from: VirtualPath,
  to: VirtualPath,
  version: Version,
  signal?: AbortSignal,
): Promise<Version> {
  const { workspace } = call
  const moved = await workspace.move(from, to, { ifSource: version, signal }).catch(async (error: unknown) => {
    if (!isWorkspaceError(error, 'ENOTSUP')) throw error
    await compareVersion(call, from, version)
    return workspace.move(from, to, { signal })
  })
  return moved.version ?? (await workspace.stat(to)).version
}

async function compareVersion(call: Call, path: VirtualPath, version: Version): Promise<void> {
  if ((await versionAt(call, path)) === version) return
  throw new WorkspaceError({ code: 'ECONFLICT', operation: call.tool, path, reason: 'was changed meanwhile' })
}

async function removeEmpty({ workspace }: Call, directories: readonly VirtualPath[]): Promise<void> {
  for (const path of directories.toReversed()) await workspace.delete(path).catch(() => undefined) // a directory with files stays
}
