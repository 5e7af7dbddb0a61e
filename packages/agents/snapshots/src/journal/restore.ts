import { type ErrorCode, isWorkspaceError, paths } from '@ws/core'
import { concurrency, fileTimes, type MountPath, rewriteError } from '@ws/core/adapter'

import type { Conflict } from '../disk/restore/restore.ts'
import { depthOf } from '../disk/restore/plan.ts'
import type { Journal } from './journal.ts'
import { atOnce, isSameBytes, isSameKept, type Kept } from './kept.ts'

interface Undo {
  readonly path: MountPath
  readonly before: Kept | undefined
  readonly now: Kept | undefined
}

type Directory = Pick<Undo, 'path' | 'before'>

const mostNamed = 1_000
const changed = 'it was changed meanwhile'
const reasons: { readonly [Code in ErrorCode]?: string } = {
  ECONFLICT: changed,
  EEXIST: changed,
  ENOENT: changed,
  ENOTDIR: changed,
  EISDIR: changed,
  EBUSY: changed,
  ENOTEMPTY: 'it holds something that is new',
  ENOTSUP: 'the store cannot set its bits or its time',
}

export interface RestoreByCallsOptions {
  readonly paths: readonly MountPath[]
  readonly states: ReadonlyMap<MountPath, Kept | undefined>
  readonly seen: ReadonlyMap<MountPath, Kept | undefined>
  /** Whether files of today whose bytes cannot be saved may be lost. */
  readonly discards: boolean
}

/** Restores the states kept by a journal, by the store's own operations and under its conditions. */
export async function restoreByCalls(journal: Journal, options: RestoreByCallsOptions): Promise<Conflict[]> {
  const conflicts = new Map<MountPath, string>()
  const steps: Undo[] = []
  await concurrency.forEachOf(options.paths, atOnce, async (path) => {
    const step = { path, before: options.states.get(path), now: await journal.now(path) }
    const reason = await reasonAgainst(step, options)
    if (reason === undefined) steps.push(step)
    else conflicts.set(path, reason)
  })
  const done = new Set<MountPath>()
  const failed: MountPath[] = []
  const attempt = async (path: MountPath, act: () => Promise<unknown>): Promise<void> => {
    if (conflicts.has(path)) return
    try {
      await act()
      done.add(path)
    } catch (error) {
      const reason = isWorkspaceError(error) ? reasons[error.code] : undefined
      if (reason === undefined) {
        failed.push(path)
        throw error
      }
      conflicts.set(path, reason)
    }
  }
  try {
    const around = await directoriesAround(journal, steps)
    await byDepth(steps, 'deepest', async ({ path, before, now }) => {
      if (now !== undefined && before?.type !== now.type) await attempt(path, () => removeOne(journal, path, now))
    })
    await byDepth(steps, 'highest', async ({ path, before, now }) => {
      if (before === undefined) return
      await attempt(path, () => putBack(journal, path, before, before.type === now?.type ? now : undefined))
    })
    await byDepth(emptied(journal, steps, options.states), 'deepest', async ({ path }) => {
      // a file that the directory hid may reappear: the error then names the path
      const isThere = (await journal.now(path))?.type === 'directory'
      if (!isThere) await attempt(path, () => journal.inner.createDirectory(path))
    })
    await byDepth([...steps, ...around], 'deepest', async ({ path, before }) => {
      if (before !== undefined) await attempt(path, () => mark(journal, path, before))
    })
  } catch (error) {
    // parallel operations have ended by now
    throw partial(error, { failed, done, all: steps.length })
  }
  return [...conflicts].map(([path, reason]) => ({ path, reason }))
}

async function reasonAgainst(
  { path, before, now }: Undo,
  { seen, states, paths: all, discards }: RestoreByCallsOptions,
): Promise<string | undefined> {
  const expected = seen.get(path)
  if (!seen.has(path) || !states.has(path)) return changed
  const isExpected = now === undefined || expected === undefined ? now === expected : await isSameKept(now, expected)
  if (!isExpected) return changed
  if (before?.type === 'file' && before.bytes === undefined && !(now !== undefined && (await isSameBytes(before, now))))
    return 'its bytes were not saved then'
  // such a file may hold the only copy of earlier bytes that were not saved
  const isUnsaved = (kept: Kept | undefined): boolean => kept?.type === 'file' && kept.bytes === undefined
  if (isUnsaved(now) && !(discards && !all.some((one) => isUnsaved(states.get(one)))))
    return 'its bytes of today could not be saved, so this could not be undone'
  try {
    // read damaged bytes before anything is changed
    await before?.bytes?.() // @defence saved bytes that were damaged: with damaged bytes is EIO
    return undefined
  } catch (error) {
    // the state is a fork's, where a call has replaced the file
    if (isWorkspaceError(error, 'ECONFLICT') || isWorkspaceError(error, 'ENOENT')) return changed
    throw error
  }
}

function partial(
  error: unknown,
  {
    failed,
    done,
    all,
  }: { readonly failed: readonly MountPath[]; readonly done: ReadonlySet<MountPath>; readonly all: number },
): unknown {
  const [failedAt] = failed
  if (!isWorkspaceError(error) || failedAt === undefined || done.size === 0) return error
  const state = `${done.size} of ${all} paths are restored, or partly so; restore again to go on`
  const completed = [...done].slice(0, mostNamed)
  return rewriteError(error, { partial: { completed, completedCount: done.size, failedAt, state } })
}

async function byDepth<Entry extends Pick<Undo, 'path'>>(
  entries: readonly Entry[],
  first: 'deepest' | 'highest',
  act: (entry: Entry) => Promise<void>,
): Promise<void> {
  const levels = Map.groupBy(entries, ({ path }) => depthOf(path))
  const depths = [...levels.keys()].sort((one, other) => (first === 'deepest' ? other - one : one - other))
  for (const depth of depths) await concurrency.forEachOf(levels.get(depth) ?? [], atOnce, act)
}

/** Returns unchanged directories whose times a restore changes. Otherwise, a change within the same millisecond would go unnoticed. */
async function directoriesAround(journal: Journal, steps: readonly Undo[]): Promise<Directory[]> {
  // without empty directories, the store keeps no times of directories either
  if (!journal.inner.capabilities.keepsEmptyDirectories) return []
  const known = new Set(steps.map(({ path }) => path))
  const around: Directory[] = []
  for (const { path } of steps) {
    const above = paths.parent(path)
    if (known.has(above)) continue
    known.add(above)
    const before = await journal.now(above)
    if (before?.type === 'directory') around.push({ path: above, before })
  }
  return around
}

/** Directories of the earlier state that may vanish when the restore removes their last entry, in a store without empty directories. */
function emptied({ inner }: Journal, steps: readonly Undo[], states: RestoreByCallsOptions['states']): Directory[] {
  const above = new Set<MountPath>()
  if (inner.capabilities.keepsEmptyDirectories) return []
  for (const { path, before } of steps)
    for (let at = path; before === undefined && at !== '/'; ) above.add((at = paths.parent(at)))
  return [...above].flatMap((path) => {
    const before = states.get(path)
    return before?.type === 'directory' ? [{ path, before }] : []
  })
}

async function removeOne(journal: Journal, path: MountPath, { type, version }: Kept): Promise<void> {
  await journal.keepBefore({ operation: 'delete', path })
  // a directory may have vanished with its last entry
  const force = type === 'directory' && !journal.inner.capabilities.keepsEmptyDirectories
  await journal.inner.delete(path, type === 'directory' ? { force } : { ifVersion: version })
}

async function putBack(journal: Journal, path: MountPath, before: Kept, now: Kept | undefined): Promise<void> {
  const { inner } = journal
  await journal.keepBefore({ operation: 'write', path })
  if (before.type === 'directory') {
    if (now === undefined) await inner.createDirectory(path)
  } else if (before.type === 'symlink') {
    if (now?.target === before.target) return
    if (now !== undefined) await inner.delete(path, { ifVersion: now.version })
    await inner.createSymlink?.(path, before.target ?? '')
  } else if (before.bytes !== undefined && (now === undefined || !(await isSameBytes(before, now)))) {
    await inner.write(path, await before.bytes(), { ifVersion: now?.version ?? 'absent', mode: before.mode }) // @defence `ifVersion: …'absent', ` another writer's work in a bucket: another writer
  }
}

async function mark({ inner }: Journal, path: MountPath, { type, mode, modifiedAt }: Kept): Promise<void> {
  if (type === 'symlink' || path === '/' || (mode === undefined && modifiedAt === undefined)) return
  const { mode: current, modifiedAt: time } = await inner.stat(path)
  if (mode !== undefined && mode !== current) await inner.chmod?.(path, mode)
  if (modifiedAt !== undefined && time !== modifiedAt)
    await inner.utimes?.(path, { modifiedAt: fileTimes.settable(modifiedAt) })
}
