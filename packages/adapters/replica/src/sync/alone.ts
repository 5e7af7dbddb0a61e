import { type ErrorCode, isWorkspaceError, paths, type WorkspaceError } from '@ws/core'
import type { Entry, MountPath, SignalOption } from '@ws/core/adapter'

import { failure, typed } from '../errors.ts'
import type { Seen } from '../worker/protocol.ts'
import { ancestorsOf } from './paths.ts'
import { isChanged, listStore, type Remote } from './remote.ts'
import { agree, leaveHere, leaveInStore, type Site, type Step } from './site.ts'

/** Milliseconds before an entry that could not be brought over is tried again. */
const retryAfter = 60_000
/** Milliseconds in which a store answers that can be reached. */
const answerTime = 5_000
/** How often an entry may differ from its listing. */
const mostDiffering = 6

/** Codes of failures that a store which cannot be reached has for each of its entries. */
export const awayCodes: ReadonlySet<ErrorCode> = new Set(['EBACKEND', 'ETIMEDOUT', 'EIO', 'ECLOSED'])

/** Those after which the same step can succeed at once. After `ETIMEDOUT`, it was given its time already. */
const momentaryCodes: ReadonlySet<ErrorCode> = new Set(['EBACKEND', 'EIO'])

/** Whether a failure is that of the whole store, and not of one entry: it is closed, or does not answer for its root either. */
async function isAway({ store }: Site, { code }: WorkspaceError): Promise<boolean> {
  if (!awayCodes.has(code) || code === 'ECLOSED') return code === 'ECLOSED'
  try {
    await store.stat(paths.mountRoot, { signal: AbortSignal.timeout(answerTime) })
    return false
  } catch {
    return true // any failure of the root is that of the whole store
  }
}

/** Does one step, and repeats it once where only the step failed: a fault or a lease of a moment does not refuse an entry. */
async function surely(
  site: Site,
  path: MountPath,
  { signal, work }: SignalOption & { readonly work: () => Promise<Step> },
): Promise<Step> {
  for (let again = false; ; again = true) {
    try {
      return await work()
    } catch (error) {
      if (signal?.aborted === true || isChanged(error)) throw error
      const known = typed(error, path)
      if (again || !momentaryCodes.has(known.code) || (await isAway(site, known))) throw error
    }
  }
}

/** Does one step of a pull. Where it fails for its entry alone, the entry is left out by name, and commands go on without it. */
export async function pulling(
  site: Site,
  path: MountPath,
  version: string | undefined,
  { signal, work }: SignalOption & { readonly work: () => Promise<Step> },
): Promise<Step> {
  try {
    const step = await surely(site, path, { signal, work })
    if (step !== 'differs' || site.tree.differs(path) < mostDiffering) return step
    return leaveFailed(site, path, version, 'the store lists it in another way than it gives it')
  } catch (error) {
    if (signal?.aborted === true) throw error
    if (isChanged(error)) return 'differs'
    const known = typed(error, path)
    if (await isAway(site, known)) throw known
    if (site.tombstones.isUnfinished(path) && !refusalCodes.has(known.code)) throw notYet(path, known)
    return leaveFailed(site, path, version, known)
  }
}

/** It is tried again when it changes, by `refresh()`, or after a while; where the disk is full, with the next listing. */
export function leaveFailed(site: Site, path: string, version: string | undefined, why: string | WorkspaceError): Step {
  const isFull = isWorkspaceError(why, 'ENOSPC') || isWorkspaceError(why, 'EDQUOT')
  const words = isWorkspaceError(why) ? `it ${why.reason}` : why
  const reason = isFull ? 'the disk of this machine is full' : words
  site.tree.failed.set(path, { version, reason, until: isFull ? 0 : performance.now() + retryAfter })
  leaveInStore(site, path, reason)
  return 'done'
}

/** Does one step of a push. Where the store refuses its entry alone, the entry is left out by name, and the others go on. */
export async function pushing(
  site: Site,
  path: MountPath,
  { signal, work }: SignalOption & { readonly work: () => Promise<Step> },
): Promise<Step> {
  try {
    return await surely(site, path, { signal, work })
  } catch (error) {
    if (signal?.aborted === true) throw error
    const known = typed(error, path)
    if (isChanged(error)) {
      // a directory with keys that no path names looks empty, and cannot be removed
      if (known.code !== 'ENOTEMPTY' || site.tree.differs(path) === 1) return 'differs'
      if (!site.tree.seen.has(path)) return leaveThere(site, path, known)
      await agree(site, [], [path]) // its successor here gives way, as in each conflict of types
      return 'differs'
    }
    if (waitCodes.has(known.code) || (await isAway(site, known))) throw known
    if (!refusalCodes.has(known.code)) throw notYet(path, known)
    if (site.tree.seen.has(path)) return leaveWithAbove(site, path, `the store refuses it: it ${known.reason}`)
    return leaveThere(site, path, known)
  }
}

function notYet(path: MountPath, { reason, remedy = 'flush again' }: WorkspaceError): WorkspaceError {
  return failure('EBUSY', { operation: 'flush', path, reason: `could not be saved yet: ${reason}`, remedy })
}

/** An entry that the store does not remove comes back with the next pull. */
async function leaveThere(site: Site, path: MountPath, { reason }: WorkspaceError): Promise<Step> {
  await agree(site, [], [path])
  leaveInStore(site, path, `the store refuses its removal: it ${reason}`)
  return 'done'
}

/** The directories above an entry may have nothing else in the store that makes them: they are looked at again. */
async function leaveWithAbove(site: Site, path: MountPath, reason: string): Promise<Step> {
  const { tree } = site
  const isKnown = tree.leftOut.has(path)
  leaveHere(site, path, reason)
  const above = ancestorsOf(path).filter((at) => tree.base.has(at))
  const empty = above.filter((at, index) => !isKnown && tree.below('base', at) === above.length - 1 - index)
  if (empty.length === 0) return 'done'
  await agree(site, [], empty)
  return 'changed'
}

/** Names the entries that keep their old name in the store, since the store refuses the new one. */
export function nameMoved(site: Site): void {
  const { base, seen, leftOut } = site.tree
  const bytesOf = (side: Pick<Seen, 'content' | 'target'> | undefined): string | undefined =>
    side?.content ?? side?.target
  const refused = new Set([...leftOut.keys()].map((path) => bytesOf(seen.get(path))))
  refused.delete(undefined)
  if (refused.size === 0) return
  const gone = [...site.tree.gone].filter((path) => !leftOut.has(path))
  const moved = gone.filter((path) => refused.has(bytesOf(base.get(path))))
  const named = new Set(moved.flatMap((path) => [path, ...ancestorsOf(path)]))
  for (const path of gone) if (named.has(path)) leaveHere(site, path, 'it was moved to where it cannot be saved', false)
}

/** The change waits for room, or for another program. */
const waitCodes: ReadonlySet<ErrorCode> = new Set(['EBUSY', 'ENOSPC', 'EDQUOT'])
/** `EBACKEND` of a store that answers is one of its refusals. */
const refusalCodes: ReadonlySet<ErrorCode> = new Set([
  ...(['EACCES', 'EROFS', 'EINVAL', 'ENAMETOOLONG', 'EFBIG', 'ENOTSUP', 'EBACKEND'] as const),
])

/** Most named entries of the store that cannot come to this machine. */
const mostLeft = 1_000

/** Lists the store, and notes what it has that this machine cannot hold, or could not bring over a moment ago. */
export async function listSite(site: Site, signal: AbortSignal | undefined): Promise<Map<string, Remote>> {
  const { store, limits, tree, onEvent } = site
  const left = new Map<string, string>()
  const leave = (path: string, reason: string): unknown => left.size < mostLeft && left.set(path, reason)
  const unnamed = new Map<string, Entry>()
  const onUnnamed = (entry: Entry): unknown => unnamed.size < mostLeft && unnamed.set(entry.path, entry)
  const listed = await listStore(store, limits, { signal, base: tree.base, leave, onUnnamed })
  for (const [path, { version, reason, until }] of tree.failed) {
    if (until > performance.now() && listed.get(path)?.version === version) left.set(path, reason)
    else tree.failed.delete(path)
  }
  for (const path of tree.notHeld.keys()) if (!left.has(path)) tree.notHeld.delete(path)
  for (const [path, reason] of left) leaveInStore(site, path, reason)
  for (const path of tree.unnamed.keys()) if (!unnamed.has(path)) tree.unnamed.delete(path)
  for (const { path, type } of unnamed.values()) {
    const reason = listed.has(path)
      ? 'another entry of the store has its name, too'
      : 'no path can name its key in the store'
    const known = { path, reason, holdsBytes: false }
    if (!tree.unnamed.has(path)) onEvent({ event: 'left-out', ...known })
    tree.unnamed.set(path, { ...known, type })
  }
  return listed
}
