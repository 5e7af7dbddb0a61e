import { isWorkspaceError, paths } from '@ws/core'
import { fileTimes, type MountPath, type WriteData } from '@ws/core/adapter'

import { type Base, largeBytes, type Seen } from '../worker/protocol.ts'
import { pushing } from './alone.ts'
import { keepOurs } from './conflict.ts'
import { ancestorsOf } from './paths.ts'
import { sendLarge } from './pieces.ts'
import { fetchEntry, isChanged } from './remote.ts'
import { agree, factsToPush, leaveHere, type Site, type Step, type StepOptions } from './site.ts'
import { baseOf, hasSameMarks, isSameBytes } from './tree.ts'

/** Milliseconds of tolerated difference in a file's time, for stores where setting the time costs a copy. */
const costlyTimeSlack = 2_000

/** Pushes one path of this machine to the store, on the condition that the store is in the agreed state. */
export function pushEntry(site: Site, path: MountPath, options: StepOptions): Promise<Step> {
  return pushing(site, path, { signal: options.signal, work: () => push(site, path, options) })
}

async function push(site: Site, path: MountPath, options: StepOptions): Promise<Step> {
  const base = site.tree.base.get(path)
  const facts = factsToPush(site, path, options.held)
  if (site.tree.notHeld.has(path)) return yieldTo(site, path)
  if (facts === undefined) return base === undefined ? 'done' : pushDeletion(site, base, options)
  if (facts.type === 'file' && facts.content === undefined) return 'done' // it is among those that are left out
  const { maxFiles } = site.limits
  if (base === undefined && !site.tree.admits(path, maxFiles))
    return leaveHere(site, path, `the directory has more than ${maxFiles} entries`)
  if (base !== undefined && base.type !== facts.type) {
    const step = await pushDeletion(site, base, options)
    return step === 'done' ? pushNew(site, path, facts, options) : step
  }
  return pushNew(site, path, facts, options)
}

/** Lets the store's version, which cannot come to this machine, keep the path. This machine's version is renamed. */
async function yieldTo(site: Site, path: MountPath): Promise<Step> {
  if (!site.tree.seen.has(path)) await agree(site, [], [path])
  else if ((await keepOurs(site, path, 'content')) === 'done') return 'changed'
  return 'done'
}

async function pushNew(site: Site, path: MountPath, facts: Seen, options: StepOptions): Promise<Step> {
  const base = site.tree.base.get(path)
  if (facts.type === 'directory') return pushDirectory(site, path, facts, options)
  if (facts.type === 'symlink') return pushLink(site, path, facts, options)
  if (base !== undefined && isSameBytes(base, facts)) return pushMarks(site, path, facts, base, options)
  return (await copyInStore(site, path, facts, options)) ?? (await pushBytes(site, path, facts, options))
}

async function pushBytes(site: Site, path: MountPath, facts: Seen, options: StepOptions): Promise<Step> {
  const { store, disk, tree, tombstones } = site
  const { signal, onPushed } = options
  const base = tree.base.get(path)
  const mode = facts.mode & 0o777
  const modifiedAt = fileTimes.settable(Math.floor(facts.mtime))
  let keptTime: number | undefined
  const write = async (data: WriteData): Promise<string> => {
    const ifVersion = base?.version ?? (await tombstones.conditionAt(store, path, options))
    const listed = ifVersion !== 'absent' || isFree(site, path, options.listed)
    const written = await store.write(path, data, { ifVersion, listed, parents: true, mode, modifiedAt, signal })
    keptTime = written.modifiedAt
    return written.version
  }
  let version: string | undefined
  const known = options.held?.get(path)?.bytes
  if (known === undefined && facts.size > largeBytes) version = await sendLarge(site, path, { signal, write })
  else {
    const bytes = known ?? (await disk.ask('read', path, site.isBusy()))
    // other machines would mistake these bytes for a deletion
    if (bytes !== undefined && tombstones.ownerOf(bytes) !== undefined)
      return leaveHere(site, path, 'its bytes are those that mark a deletion')
    version = bytes && (await write(bytes))
  }
  if (version === undefined) return 'changed'
  onPushed()
  tombstones.forget(path)
  site.packs.note(path, facts.size, { version, mode, mtime: keptTime })
  // the store has these bytes now: if a later step fails, that step is repeated
  const kept = store.capabilities.modes ? base?.mode : undefined
  const now = {
    ...baseOf(path, facts, version),
    mode: kept ?? mode,
    mtime: keptTime === undefined ? Date.now() : facts.mtime,
  }
  await agree(site, [now])
  return pushMarks(site, path, facts, now, options)
}

/** True if a listing showed no entry at the path, and only directories above it. */
function isFree({ tree }: Site, path: MountPath, listed: StepOptions['listed']): boolean {
  if (listed === undefined || listed.has(path)) return false
  const isPlain = (at: string): boolean => !tree.notHeld.has(at) && !tree.unnamed.has(at)
  const isDirectory = (at: string): boolean => (listed.get(at)?.type ?? 'directory') === 'directory'
  return isPlain(path) && ancestorsOf(path).every((above) => isPlain(above) && isDirectory(above))
}

/** Copies a renamed file within the store, which has its bytes already. */
async function copyInStore(site: Site, path: MountPath, facts: Seen, options: StepOptions): Promise<Step | undefined> {
  const { store, tree } = site
  const { signal, onPushed } = options
  if (store.capabilities.conditionalMove !== 'server' || facts.size === 0 || tree.base.has(path)) return undefined
  const source = [...tree.gone].find((one) => tree.base.get(one)?.content === facts.content)
  const known = source === undefined ? undefined : tree.base.get(source)
  if (source === undefined || known === undefined) return undefined
  try {
    const conditions = { ifSource: known.version, ifDestination: 'absent', parents: true, signal } as const
    await store.copy(source, path, conditions)
  } catch (error) {
    if (isChanged(error)) return undefined
    throw error
  }
  onPushed()
  return confirm(site, path, facts, options)
}

/** Agrees on the store's present version of a file if its bytes equal this machine's bytes. */
async function confirm(site: Site, path: MountPath, facts: Seen, { signal, onPushed }: StepOptions): Promise<Step> {
  const now = await fetchEntry(site, path, 'file', { signal, onlyHash: true, size: facts.size })
  if (now?.content === undefined || now.content !== facts.content) return 'differs'
  const known = { ...baseOf(path, facts, now.version), mode: now.mode ?? facts.mode, mtime: now.mtime ?? facts.mtime }
  await agree(site, [known])
  return hasSameMarks(known, facts) ? 'done' : pushMarks(site, path, facts, known, { signal, onPushed })
}

/** Pushes permission bits and time, if the store keeps them. */
async function pushMarks(site: Site, path: MountPath, facts: Seen, base: Base, options: StepOptions): Promise<Step> {
  const { store } = site
  const { signal, onPushed } = options
  const { uniqueVersions, modes } = store.capabilities
  const areBitsOff = (base.mode & 0o777) !== (facts.mode & 0o777)
  // writing a file anew also sets its permission bits
  if (areBitsOff && !modes && store.chmod === undefined) return pushBytes(site, path, facts, options)
  const modifiedAt = fileTimes.settable(Math.floor(facts.mtime))
  const isTimeOff = Math.abs(base.mtime - facts.mtime) > (uniqueVersions ? 0 : costlyTimeSlack)
  let marked = false
  if (store.chmod !== undefined && areBitsOff) {
    await store.chmod(path, facts.mode & 0o777, { signal })
    marked = true
  }
  if (store.utimes !== undefined && isTimeOff) {
    await store.utimes(path, { modifiedAt }, { signal })
    marked = true
  }
  if (marked) {
    onPushed()
    site.packs.note(path, facts.size, undefined)
  }
  if (!marked || !uniqueVersions) {
    await agree(site, [baseOf(path, facts, base.version)])
    return 'done'
  }
  // writing the marks made a new version, but another machine may have written in between
  const now = await fetchEntry(site, path, 'file', { signal, onlyHash: true, size: facts.size })
  if (now?.content === undefined || now.content !== facts.content) return 'differs'
  await agree(site, [baseOf(path, facts, now.version)])
  return 'done'
}

async function pushLink(site: Site, path: MountPath, facts: Seen, options: StepOptions): Promise<Step> {
  const { signal, onPushed, listed } = options
  const { store, tree } = site
  const base = tree.base.get(path)
  const target = facts.target ?? ''
  if (base !== undefined && isSameBytes(base, facts)) {
    await agree(site, [baseOf(path, facts, base.version)])
    return 'done'
  }
  if (base !== undefined) {
    await store.delete(path, { ifVersion: base.version, signal })
    await agree(site, [], [path])
  }
  await makeParent(site, path, signal)
  const made = await store.createSymlink?.(path, target, { listed: isFree(site, path, listed), signal })
  onPushed()
  const now = made ?? (await fetchEntry(site, path, 'symlink', { signal }))
  if (now === undefined || ('target' in now && now.target !== target)) return 'differs'
  await agree(site, [baseOf(path, facts, now.version)])
  return 'done'
}

async function makeParent({ store }: Site, path: MountPath, signal: AbortSignal | undefined): Promise<void> {
  const parent = paths.parent(path)
  if (parent === paths.mountRoot || !store.capabilities.enforcesHierarchy) return
  await store.createDirectory(parent, { recursive: true, signal })
}

async function pushDirectory(
  site: Site,
  path: MountPath,
  facts: Seen,
  { signal, onPushed, listed }: StepOptions,
): Promise<Step> {
  const { store, tree } = site
  const { keepsEmptyDirectories, modes } = store.capabilities
  const base = tree.base.get(path)
  if (base === undefined && (keepsEmptyDirectories || !hasEntries(site, path))) {
    await store.createDirectory(path, { recursive: true, listed: isFree(site, path, listed), signal })
    onPushed()
  }
  const mode = facts.mode & 0o777
  if (modes && store.chmod !== undefined && mode !== (base === undefined ? 0o755 : base.mode & 0o777))
    await store.chmod(path, mode, { signal })
  await agree(site, [baseOf(path, facts, 'directory')])
  return 'done'
}

/** True if the directory has pushed entries: these make the directory in the store. */
function hasEntries({ tree }: Site, path: string): boolean {
  const left = [...tree.leftOut.keys()].filter((one) => tree.seen.has(one) && one.startsWith(`${path}/`))
  return tree.below('seen', path) > left.length
}

/** Deletes only a directory. The name may belong to a file of another program, in place of the directory or, in a bucket, beside it. */
async function deleteDirectory({ store }: Site, path: MountPath, signal: AbortSignal | undefined): Promise<void> {
  const { type, version } = await store.stat(path, { signal })
  if (type === 'directory') await store.delete(path, { ifVersion: version, signal })
}

async function pushDeletion(site: Site, base: Base, { signal, onPushed }: StepOptions): Promise<Step> {
  const { store, tree, tombstones } = site
  const path = base.path as MountPath
  const parent = paths.parent(path)
  // in stores that derive directories from files, the last file's deletion removes its directory, which is made anew
  const above = tree.seen.get(parent)
  const losesParent =
    !store.capabilities.keepsEmptyDirectories && above?.type === 'directory' && !hasEntries(site, parent)
  if (losesParent) await agree(site, [], [parent])
  try {
    if (base.type === 'directory') await deleteDirectory(site, path, signal)
    else if (base.type === 'symlink' || store.capabilities.conditionalDelete === 'server')
      await store.delete(path, { ifVersion: base.version, signal })
    else await tombstones.delete(store, path, base.version, { signal })
    onPushed()
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOENT')) throw error
  }
  await agree(site, [], [path])
  return losesParent ? pushDirectory(site, parent, above, { signal, onPushed }) : 'done'
}
