import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { LinkSignal, type StorageAdapter } from '@ws/core/adapter'

import { breach } from '../errors.ts'
import { outputAt } from '../plan/paths.ts'
import type { LandedEntry } from '../state/records.ts'
import { mountPath, readTree, sameEntry, type Hasher } from './tree.ts'

export interface Landing {
  readonly staging: StorageAdapter
  readonly output: StorageAdapter
  /** Everything that lands: parents before what is in them. */
  readonly entries: readonly LandedEntry[]
  /** The declared outputs. */
  readonly outputs: readonly string[]
  /** Entries that the step landed before. Those that it does not write any more go. */
  readonly before: readonly LandedEntry[]
  /** True for content that the runner itself wrote. */
  isKnown(entry: LandedEntry): boolean
  readonly hasher: Hasher
}

/**
 * Looks whether a landing would overwrite anything that the runner did not write. Touches nothing.
 *
 * @throws WorkspaceError `EEXIST` for such an entry, `ESECURITY` where a link of the output is in the way
 */
export async function checkLanding({ output, entries, outputs, isKnown, hasher }: Landing): Promise<void> {
  const wanted = new Map(entries.map((entry) => [entry.path, entry]))
  for (const path of outputs) {
    for (const found of await guarded(path, () => readTree(output, path, hasher))) {
      const next = wanted.get(found.path)
      if ((next !== undefined && sameEntry(next, found)) || found.type === 'directory' || isKnown(found)) continue
      throw existing(found.path)
    }
  }
}

/**
 * Brings everything from staging to the output. It can be repeated after a crash: an entry that is there already is left
 * alone. Files are written atomically, and links in the output are never followed.
 */
export async function land(landing: Landing): Promise<void> {
  const { staging, output, entries, before } = landing
  await checkLanding(landing)
  const kept = new Set(entries.map(({ path }) => path))
  const gone = before.filter(({ path }) => !kept.has(path)).toSorted((a, b) => (a.path < b.path ? 1 : -1))
  for (const entry of gone) await guarded(entry.path, () => removeOld(output, entry, landing.hasher))
  for (const entry of entries) await guarded(entry.path, () => landEntry(staging, output, entry, landing.hasher))
  await output.flush?.()
}

async function landEntry(
  staging: StorageAdapter,
  output: StorageAdapter,
  entry: LandedEntry,
  hasher: Hasher,
): Promise<void> {
  const at = mountPath(entry.path)
  if (entry.type === 'directory') {
    if (entry.path !== '') await output.createDirectory(at, { recursive: true })
    return
  }
  const [found] = await readTree(output, entry.path, hasher)
  if (found !== undefined && sameEntry(found, entry)) return
  if (found !== undefined && found.type !== entry.type) await output.delete(at, { recursive: true })
  if (entry.type === 'file') {
    const { stat, stream } = await staging.readStream(at)
    await output.write(at, stream, { parents: true, mode: stat.mode })
    return
  }
  if (found?.type === 'symlink') await output.delete(at)
  const parent = entry.path.split('/').slice(0, -1).join('/')
  if (parent !== '') await output.createDirectory(mountPath(parent), { recursive: true })
  await output.createSymlink?.(at, entry.target)
}

/** Removes an entry of an earlier run, unless somebody changed it since. */
async function removeOld(output: StorageAdapter, entry: LandedEntry, hasher: Hasher): Promise<void> {
  const { path, type } = entry
  const [found] = path === '' ? [] : await readTree(output, path, hasher)
  if (found === undefined || !sameEntry(found, entry)) return
  try {
    await output.delete(mountPath(path))
  } catch (error) {
    const isFine = isWorkspaceError(error, 'ENOENT') || (type === 'directory' && isWorkspaceError(error, 'ENOTEMPTY'))
    if (!isFine) throw error
  }
}

/** A link on the way is refused: an output lands at its own path only. */
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
