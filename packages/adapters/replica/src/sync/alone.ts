import { type ErrorCode, isWorkspaceError, paths, type WorkspaceError } from '@ws/core'
import type { Entry, MountPath, SignalOption } from '@ws/core/adapter'

import { failure, typed } from '../errors.ts'
import type { Seen } from '../worker/protocol.ts'
import { ancestorsOf } from './paths.ts'
import { isChanged, listStore, type Remote } from './remote.ts'
import { agree, leaveHere, leaveInStore, type Site, type Step } from './site.ts'

/** Milliseconds until the next attempt to bring over an entry that failed. */
const retryAfter = 60_000
/** Milliseconds within which a reachable store answers. */
const answerTime = 5_000
/** Number of times that an entry may differ from its listing. */
const mostDiffering = 6

/** Error codes that an unreachable store returns for every entry. */
export const awayCodes: ReadonlySet<ErrorCode> = new Set(['EBACKEND', 'ETIMEDOUT', 'EIO', 'ECLOSED'])

/** Codes after which an immediate retry can succeed. A step that ended with `ETIMEDOUT` has used up its time. */
const momentaryCodes: ReadonlySet<ErrorCode> = new Set(['EBACKEND', 'EIO'])

/** True if the whole store failed, not one entry: the store is closed, or does not answer for its root either. */
async function isAway({ store }: Site, { code }: WorkspaceError): Promise<boolean> {
  if (!awayCodes.has(code) || code === 'ECLOSED') return code === 'ECLOSED'
  try {
    await store.stat(paths.mountRoot, { signal: AbortSignal.timeout(answerTime) })
    return false
  } catch {
    return true // any failure of the root is that of the whole store
  }
}

/** Does one step, and repeats it once if only this step failed. So a momentary fault or lease does not leave the entry out. */
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

/** Does one step of a pull. If the step fails for its entry alone, the entry is left out and reported, and commands continue. */
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
    if (await isAway(site, known)) throw known // @defence `if (…) ` an object that this machine cannot hold: half of its objects
    if (site.tombstones.isUnfinished(path) && !refusalCodes.has(known.code)) throw notYet(path, known)
    return leaveFailed(site, path, version, known)
  }
}

/** Leaves out a failed entry until it changes, `refresh()` runs or a minute passes. If the disk is full, only until the next listing. */
export function leaveFailed(site: Site, path: string, version: string | undefined, why: string | WorkspaceError): Step {
  const isFull = isWorkspaceError(why, 'ENOSPC') || isWorkspaceError(why, 'EDQUOT')
  const words = isWorkspaceError(why) ? `it ${why.reason}` : why
  const reason = isFull ? 'the disk of this machine is full' : words
  site.tree.failed.set(path, { version, reason, until: isFull ? 0 : performance.now() + retryAfter })
  leaveInStore(site, path, reason)
  return 'done'
}

/** Does one step of a push. If the store refuses only this entry, the entry is left out and reported, and other entries continue. */
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
      // a directory of the store that seems empty may contain keys that no path can name, and then cannot be removed
      if (known.code !== 'ENOTEMPTY' || site.tree.differs(path) === 1) return 'differs'
      if (!site.tree.seen.has(path)) return leaveThere(site, path, known)
      await agree(site, [], [path]) // this machine's new entry at the path gives way, as in each conflict of types
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

/** Records that the store refuses to remove an entry. The next pull brings the entry back. */
async function leaveThere(site: Site, path: MountPath, { reason }: WorkspaceError): Promise<Step> {
  await agree(site, [], [path])
  leaveInStore(site, path, `the store refuses its removal: it ${reason}`)
  return 'done'
}

/** Leaves an entry out, and has the directories above it checked again: without this entry, the store may lack them. */
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

/** Reports the moved entries that keep their old name in the store, because the store refuses the new name. */
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

/** Errors after which a change waits for free space or for another program. */
const waitCodes: ReadonlySet<ErrorCode> = new Set(['EBUSY', 'ENOSPC', 'EDQUOT'])
/** Codes of a refusal. If the store still answers, `EBACKEND` is a refusal too. */
const refusalCodes: ReadonlySet<ErrorCode> = new Set([
  ...(['EACCES', 'EROFS', 'EINVAL', 'ENAMETOOLONG', 'EFBIG', 'ENOTSUP', 'EBACKEND'] as const),
])

/** Limit of reported store entries that this machine cannot hold. */
const mostLeft = 1_000

/** Lists the store, and records the entries that this machine cannot hold or recently failed to bring over. */
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
