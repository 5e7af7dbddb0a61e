import { isWorkspaceError, WorkspaceError, type Version } from '@ws/core'
import { LinkSignal, type MountPath, type StorageAdapter } from '@ws/core/adapter'

import { breach } from '../errors.ts'
import { outputAt } from '../paths.ts'
import type { LandedEntry } from '../state/records.ts'
import { mountPath, readTree, sameEntry, type Hasher } from './tree.ts'

export interface Landing {
  readonly staging: StorageAdapter
  readonly output: StorageAdapter
  /** Entries, each parent before its children. */
  readonly entries: readonly LandedEntry[]
  readonly outputs: readonly string[]
  readonly before: readonly LandedEntry[]
  isKnown(entry: LandedEntry): boolean
  readonly hasher: Hasher
}

/** Checks that a landing overwrites only the runner's own entries. @throws WorkspaceError `EEXIST`; `ESECURITY` for a link in the way */
export async function checkLanding({ output, entries, outputs, isKnown, hasher }: Landing): Promise<void> {
  const wanted = new Map(entries.map((entry) => [entry.path, entry]))
  for (const path of outputs) {
    for (const found of await guarded(path, () => readTree(output, path, hasher))) {
      const next = wanted.get(found.path)
      const isSame = next !== undefined && sameEntry(next, found)
      const isKept = next === undefined && found.type === 'directory'
      if (!isSame && !isKept && !isKnown(found)) throw existing(found.path)
    }
  }
}

/**
 * Writes entries atomically and conditionally, without following links. Safe to repeat after a crash. On a conflict, removes new files.
 * @throws WorkspaceError as `checkLanding`, and `ECONFLICT` for an entry that appeared or changed meanwhile
 */
export async function land(landing: Landing): Promise<void> {
  const { output, entries, before, hasher } = landing
  await checkLanding(landing)
  const kept = new Set(entries.map(({ path }) => path))
  const gone = before.filter(({ path }) => !kept.has(path)).toSorted((a, b) => (a.path < b.path ? 1 : -1))
  for (const entry of gone) await guarded(entry.path, () => removeOld(output, entry, hasher))
  const made: Made[] = []
  try {
    for (const entry of entries) {
      const one = await guarded(entry.path, () => inWords(entry.path, () => landEntry(landing, entry)))
      if (one !== undefined) made.push(one)
    }
  } catch (error) {
    if (isWorkspaceError(error, 'ECONFLICT')) await takeBack(output, made)
    throw error
  }
  await output.flush?.()
}

interface Made {
  readonly at: MountPath
  readonly version: Version
}

interface VersionedEntry {
  readonly entry: LandedEntry
  readonly version: Version
}

async function landEntry(landing: Landing, entry: LandedEntry): Promise<Made | undefined> {
  const { staging, output, isKnown, hasher } = landing
  const at = mountPath(entry.path)
  if (entry.path === '') return undefined
  const found = await entryAt(output, entry.path, hasher)
  if (found !== undefined && sameEntry(found.entry, entry)) return undefined
  if (found !== undefined && !isKnown(found.entry)) throw changed(entry.path)
  const isReplaced = entry.type === 'file' && found?.entry.type === 'file'
  if (found !== undefined && !isReplaced) await remove(output, found)
  if (entry.type === 'directory') {
    await output.createDirectory(at, { recursive: true })
    return undefined
  }
  if (entry.type === 'file') {
    const { stat, stream } = await staging.readStream(at)
    const ifVersion = isReplaced ? found.version : 'absent'
    const { version } = await output.write(at, stream, { parents: true, mode: stat.mode, ifVersion })
    return found === undefined ? { at, version } : undefined
  }
  const parent = entry.path.split('/').slice(0, -1).join('/')
  if (parent !== '') await output.createDirectory(mountPath(parent), { recursive: true })
  await output.createSymlink?.(at, entry.target)
  return undefined
}

/** The entry at a path. The version is not newer than the content. */
async function entryAt(output: StorageAdapter, path: string, hasher: Hasher): Promise<VersionedEntry | undefined> {
  try {
    const { type, version } = await output.stat(mountPath(path))
    const [entry] = type === 'directory' ? [{ type, path } as const] : await readTree(output, path, hasher)
    return entry && { entry, version }
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

async function remove(output: StorageAdapter, { entry, version }: VersionedEntry): Promise<void> {
  const hasVersion = entry.type !== 'directory' && output.capabilities.conditionalDelete !== 'none'
  await output.delete(mountPath(entry.path), hasVersion ? { ifVersion: version } : {})
}

async function removeOld(output: StorageAdapter, entry: LandedEntry, hasher: Hasher): Promise<void> {
  const found = entry.path === '' ? undefined : await entryAt(output, entry.path, hasher)
  if (found === undefined || !sameEntry(found.entry, entry)) return
  try {
    await remove(output, found)
  } catch (error) {
    const isFine =
      isWorkspaceError(error, 'ENOENT') ||
      isWorkspaceError(error, 'ECONFLICT') ||
      (entry.type === 'directory' && isWorkspaceError(error, 'ENOTEMPTY'))
    if (!isFine) throw error
  }
}

async function takeBack(output: StorageAdapter, made: readonly Made[]): Promise<void> {
  for (const { at, version } of made.toReversed()) {
    // a file that has changed since is kept, because the caller must see the original conflict
    const condition = output.capabilities.conditionalDelete === 'none' ? {} : { ifVersion: version }
    await output.delete(at, condition).catch(() => undefined)
  }
}

const conflicts = ['ECONFLICT', 'EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR'] as const

/** Rewords a failed condition, since the caller needs the name of the conflicting entry. */
async function inWords<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (conflicts.some((code) => isWorkspaceError(error, code))) throw changed(path, error)
    throw error
  }
}

function changed(path: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'ECONFLICT',
    operation: 'land',
    path: `${outputAt}/${path}`,
    reason: 'was made or changed by another writer while the step landed',
    remedy: 'move it away, or let the step write elsewhere; then run the plan again',
    native,
  })
}

/** Refuses a path through a link: an output must land at its own path. */
async function guarded<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LinkSignal) && !isWorkspaceError(error, 'ELOOP')) throw error
    throw breach({
      operation: 'land',
      path: `${outputAt}/${path}`,
      reason: 'leads through a symbolic link',
      rule: 'links',
      remedy: 'replace the link in the output by a directory',
    })
  }
}

function existing(path: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EEXIST',
    operation: 'land',
    path: `${outputAt}/${path}`,
    reason: 'is in the output already, with content that no run of a plan wrote there',
    remedy: 'move it away, or let the step write elsewhere',
  })
}
