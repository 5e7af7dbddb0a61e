import { isWorkspaceError, parentPath } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import type { Conflict } from '../disk/restore/restore.ts'
import { depthOf } from '../disk/restore/plan.ts'
import type { Journal } from './journal.ts'
import { isSameBytes, isSameKept, type Kept } from './kept.ts'

interface Step {
  readonly path: MountPath
  readonly before: Kept | undefined
  readonly now: Kept | undefined
}

const left: ReadonlySet<string> = new Set(['ECONFLICT', 'EEXIST', 'ENOTEMPTY', 'ENOENT', 'ENOTDIR', 'EISDIR', 'EBUSY'])

/** Brings paths back to the states that a journal kept, by the store's own operations and under its conditions. */
export async function restoreMemory(
  journal: Journal,
  since: string,
  until: string,
  paths: readonly MountPath[],
): Promise<Conflict[]> {
  const states = journal.since(since)
  const later = journal.since(until)
  const conflicts = new Map<MountPath, string>()
  const steps: Step[] = []
  for (const path of paths) {
    if (!states.has(path)) continue
    const now = await journal.now(path)
    const expected = later.has(path) ? later.get(path) : now
    const before = states.get(path)
    const isExpected = now === undefined || expected === undefined ? now === expected : isSameKept(now, expected)
    if (!isExpected) conflicts.set(path, 'it was changed meanwhile')
    else if (before?.type === 'file' && before.bytes === undefined && !(now !== undefined && isSameBytes(before, now)))
      conflicts.set(path, 'its bytes were not saved then')
    else if (now?.type === 'file' && now.bytes === undefined)
      conflicts.set(path, 'its bytes of today could not be saved, so this could not be undone')
    else steps.push({ path, before, now })
  }
  const attempt = async (path: MountPath, act: () => Promise<unknown>): Promise<void> => {
    if (conflicts.has(path)) return
    try {
      await act()
    } catch (error) {
      if (!isWorkspaceError(error) || !left.has(error.code)) throw error
      conflicts.set(path, error.code === 'ENOTEMPTY' ? 'it holds something that is new' : 'it was changed meanwhile')
    }
  }
  const around = await directoriesAround(journal, steps)
  const deepest = [...steps].sort(byDepth)
  for (const { path, before, now } of deepest) {
    if (now === undefined || before?.type === now.type) continue
    await attempt(path, () => removeOne(journal, path, now))
  }
  for (const { path, before, now } of [...deepest].reverse()) {
    if (before !== undefined)
      await attempt(path, () => putBack(journal, path, before, before.type === now?.type ? now : undefined))
  }
  for (const { path, before } of [...deepest, ...around].sort(byDepth))
    if (before !== undefined) await attempt(path, () => mark(journal, path, before))
  return [...conflicts].map(([path, reason]) => ({ path, reason }))
}

const byDepth = (one: Pick<Step, 'path'>, other: Pick<Step, 'path'>): number => depthOf(other.path) - depthOf(one.path)

/**
 * Directories whose time a restore changes by what it does in them. Their own state is the same as then: a change within the
 * millisecond of the one before leaves no trace.
 */
async function directoriesAround(journal: Journal, steps: readonly Step[]): Promise<Pick<Step, 'path' | 'before'>[]> {
  const known = new Set(steps.map(({ path }) => path))
  const around: Pick<Step, 'path' | 'before'>[] = []
  for (const { path } of steps) {
    const above = parentPath(path)
    if (known.has(above)) continue
    known.add(above)
    const before = await journal.now(above)
    if (before?.type === 'directory') around.push({ path: above, before })
  }
  return around
}

async function removeOne(journal: Journal, path: MountPath, { type, version }: Kept): Promise<void> {
  await journal.keepBefore({ operation: 'write', path })
  await journal.inner.delete(path, type === 'directory' ? {} : { ifVersion: version })
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
  } else if (before.bytes !== undefined && (now === undefined || !isSameBytes(before, now))) {
    await inner.write(path, before.bytes, { ifVersion: now?.version ?? 'absent' })
  }
}

async function mark({ inner }: Journal, path: MountPath, { type, mode, modifiedAt }: Kept): Promise<void> {
  if (type === 'symlink' || path === '/') return
  const { mode: current, modifiedAt: time } = await inner.stat(path)
  if (mode !== undefined && mode !== current) await inner.chmod?.(path, mode)
  if (time !== modifiedAt) await inner.utimes?.(path, { modifiedAt })
}
