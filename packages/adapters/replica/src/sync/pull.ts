import { ancestorsOf, isInRepository } from './paths.ts'
import { paths } from '@ws/core'
import type { MountPath, SignalOption } from '@ws/core/adapter'

import type { Seen, Wanted } from '../worker/protocol.ts'
import { pulling } from './alone.ts'
import { keepOurs } from './conflict.ts'
import { isStillNeeded } from './foreign.ts'
import { type Fetched, fetchEntry, isChanged, isGone, type Remote } from './remote.ts'
import { agree, type Site, type Step } from './site.ts'
import { baseOf, hasSameMarks, isSameBytes } from './tree.ts'

/** Brings one path of the store to this machine. Only an entry in its agreed state is replaced. */
export function pullEntry(
  site: Site,
  path: MountPath,
  remote: Remote | undefined,
  { signal }: SignalOption,
): Promise<Step> {
  return pulling(site, path, remote?.version, { signal, work: () => pull(site, path, remote, { signal }) })
}

async function pull(site: Site, path: MountPath, remote: Remote | undefined, options: SignalOption): Promise<Step> {
  if (remote === undefined) return pullDeletion(site, path, options)
  const above = await makeAbove(site, path)
  if (above !== 'done') return above
  if (remote.type === 'directory') return pullDirectory(site, path, remote)
  const { size, version } = remote
  const fetched = await fetchEntry(site, path, remote.type, { ...options, size, version })
  if (fetched === undefined) return 'differs'
  try {
    return await pullFetched(site, path, { type: remote.type, fetched }, options)
  } finally {
    if (fetched.file !== undefined) await site.disk.ask('closeFile', fetched.file)
  }
}

async function pullFetched(
  site: Site,
  path: MountPath,
  { type, fetched }: { readonly type: 'file' | 'symlink'; readonly fetched: Fetched },
  options: SignalOption,
): Promise<Step> {
  const { bytes, version } = fetched
  const owner = bytes === undefined ? undefined : site.tombstones.ownerOf(bytes)
  if (bytes === undefined || owner === undefined) return pullContent(site, path, type, fetched)
  try {
    if (owner === 'us') await site.tombstones.delete(site.store, path, version, options)
    else await site.tombstones.meetForeign(site.store, path, { version, bytes }, options)
  } catch (error) {
    if (isChanged(error)) return 'differs'
    throw error
  }
  return pullDeletion(site, path, options, true)
}

/** @param certain the entry is known to be deleted, even if the store still shows it */
async function pullDeletion(site: Site, path: MountPath, options: SignalOption, certain = false): Promise<Step> {
  const { tree, disk, store } = site
  const [base, facts] = [tree.base.get(path), tree.seen.get(path)]
  if (base === undefined) return 'done'
  // an edit wins over a deletion, and is pushed as a new entry; in a repository, other names may rely on the deletion
  const isEdited = facts !== undefined && !isSameBytes(base, facts)
  const isLate = !certain && site.tombstones.mayBeLate(path)
  if (facts !== undefined && !isLate && (isEdited ? isInRepository(path) : !isStillNeeded(site, path))) {
    if (!certain && !(await isGone(store, path, options))) return 'differs' // @defence a store whose listing leaves files out: a listing that lies
    if (isEdited) return keepOurs(site, path, facts.type === base.type ? 'content' : 'type')
    const unexpected = await site.turnstile.alone(() => disk.ask('remove', path))
    if (unexpected === undefined) tree.see(path, undefined)
    else if (facts.type !== 'directory') return 'changed'
  }
  await agree(site, [], [path])
  return 'done'
}

/** Makes the directories above a path again if commands have removed or replaced them. */
async function makeAbove(site: Site, path: MountPath): Promise<Step> {
  for (const at of ancestorsOf(path)) {
    const facts = site.tree.seen.get(at)
    if (facts?.type === 'directory') continue
    if (facts !== undefined && (await keepOurs(site, at, 'type')) !== 'done') return 'changed'
    const mode = site.tree.base.get(at)?.mode ?? 0o755
    const step = await put(site, { path: at, type: 'directory', mode, mtime: Date.now() }, undefined, 'directory')
    if (step !== 'done') return step
  }
  return 'done'
}

async function pullDirectory(site: Site, path: MountPath, remote: Remote): Promise<Step> {
  const { tree } = site
  const [base, facts] = [tree.base.get(path), tree.seen.get(path)]
  const wanted: Wanted = { path, type: 'directory', mode: remote.mode ?? 0o755, mtime: Date.now() }
  if (facts === undefined) return put(site, wanted, undefined, 'directory')
  if (facts.type !== 'directory') {
    const word = hiddenWord(site, path)
    const isLost = word !== undefined || !isSameBytes(base, facts)
    if (isLost && (await keepOurs(site, path, 'type', word)) !== 'done') return 'changed'
    return put(site, wanted, undefined, 'directory')
  }
  const mode = remote.mode ?? facts.mode
  const isOurs = base === undefined || !hasSameMarks(base, facts)
  if (!isOurs && (mode & 0o777) !== (facts.mode & 0o777)) return put(site, { ...wanted, mode }, undefined, 'directory')
  await agree(site, [{ ...baseOf(path, facts, 'directory'), mode }])
  return 'done'
}

async function pullContent(site: Site, path: MountPath, type: 'file' | 'symlink', fetched: Fetched): Promise<Step> {
  const { tree } = site
  const [base, facts] = [tree.base.get(path), tree.seen.get(path)]
  const wanted: Wanted = {
    ...{ path, type, target: fetched.target },
    mode: fetched.mode ?? (facts?.type === 'file' ? facts.mode : 0o644),
    mtime: fetched.mtime ?? Date.now(),
  }
  const bring = (given = wanted): Promise<Step> => put(site, given, fetched.file ?? fetched.bytes, fetched.version)
  if (facts === undefined) return bring()
  const isClean = isSameBytes(base, facts)
  if (facts.type === type && facts.content === fetched.content && facts.target === fetched.target) {
    const isTheirs = isClean && base !== undefined && (type === 'symlink' || hasSameMarks(base, facts))
    const known = { ...baseOf(path, facts, fetched.version), mode: type === 'file' ? wanted.mode : facts.mode }
    if (isTheirs && type === 'file' && !hasSameMarks({ ...known, mtime: wanted.mtime }, facts)) return bring()
    await agree(site, [known])
    return 'done'
  }
  const word = hiddenWord(site, path)
  if (isClean && word === undefined) {
    const step = await bring(marked(wanted, base?.mode, facts))
    // a directory with new entries is kept under another name
    if (step === 'done' || facts.type !== 'directory') return step
  }
  if ((await keepOurs(site, path, facts.type === type ? 'content' : 'type', word)) !== 'done') return 'changed'
  return bring()
}

/** A word for renaming an agreed file or link. Its object remains in the store, hidden by the entry that has taken the path. */
function hiddenWord({ tree }: Site, path: MountPath): string | undefined {
  const [base, facts] = [tree.base.get(path), tree.seen.get(path)]
  if (base === undefined || !isSameBytes(base, facts) || tree.unnamed.get(path)?.type !== base.type) return undefined
  return base.version.replaceAll(/[^A-Za-z0-9]/gu, '').slice(0, 8)
}

/** Keeps permission bits that were changed on this machine. The next push sends them to the store. */
function marked(wanted: Wanted, before: number | undefined, facts: Seen): Wanted {
  const isOurs = facts.type === 'file' && before !== undefined && (before & 0o777) !== (facts.mode & 0o777)
  return isOurs ? { ...wanted, mode: facts.mode } : wanted
}

async function put(
  site: Site,
  wanted: Wanted,
  source: Uint8Array | number | undefined,
  version: string,
): Promise<Step> {
  const { tree, puts } = site
  if (wanted.path === paths.mountRoot) return 'done'
  const outcome = await puts.put({ wanted, source, version })
  if ('unexpected' in outcome) return 'changed'
  tree.see(wanted.path, outcome.facts)
  tree.agree([baseOf(wanted.path, outcome.facts, version)])
  return 'done'
}
