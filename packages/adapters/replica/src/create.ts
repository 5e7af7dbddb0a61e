import { lstat, mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter, createScratchAdapter } from '@ws/adapter-local'
import { isWorkspaceError, paths } from '@ws/core'
import { concurrency, type StorageAdapter } from '@ws/core/adapter'
import { Reserve } from '@ws/sandbox'
import { Turnstile } from '@ws/tree'
import { Root } from '@ws/tree/disk'

import { createAdapter } from './adapter.ts'
import type { ReplicaAdapter } from './contract.ts'
import { Disk } from './disk.ts'
import { unusable } from './errors.ts'
import { type CheckedOptions, checkReplicaOptions, type ReplicaAdapterOptions } from './options.ts'
import { Engine } from './sync/engine.ts'
import { Packs } from './sync/packs.ts'
import { Puts } from './sync/puts.ts'
import { listStore } from './sync/remote.ts'
import type { Site } from './sync/site.ts'
import { Tombstones } from './sync/tombstones.ts'
import { ReplicaTree } from './sync/tree.ts'
import type { Opened, ServiceData } from './worker/protocol.ts'

const filesName = 'files'
const stateName = 'state'
/** The local adapter makes copies of the files here. It removes those of killed processes. */
const forksName = '.ws-forks'
const ordinary = { uid: 1_000, gid: 1_000 }

/**
 * Creates an adapter over a local directory, with another store as the source of truth. Resolves once the store was listed.
 * Files are copied in the background. A call fetches the files that it needs; a command and `refresh()` wait for all files.
 *
 * @throws WorkspaceError `EINVAL` for wrong options or a directory with other files; `ENOTSUP` for a store without conditional
 * writes or links; `EBUSY` while another replica has the directory; `EDQUOT` above a limit; errors of the store. No file is overwritten.
 */
export async function createReplicaAdapter(options: ReplicaAdapterOptions): Promise<ReplicaAdapter> {
  const checked = checkReplicaOptions(options)
  const isOwned = typeof checked.store === 'function'
  const store = typeof checked.store === 'function' ? await checked.store() : checked.store
  try {
    checkStore(store)
    return await open(checked, store, isOwned ? () => store.close() : async () => undefined)
  } catch (error) {
    if (isOwned) await store.close()
    throw error
  }
}

async function open(
  options: CheckedOptions,
  store: StorageAdapter,
  onClose: () => Promise<void>,
): Promise<ReplicaAdapter> {
  const { directory, persist, maxFileBytes, rebuild } = options
  // commands never run as root
  const owner = options.owner ?? (process.getuid?.() === 0 ? ordinary : undefined)
  if (directory !== undefined) await prepare(directory)
  const local =
    directory === undefined
      ? await createScratchAdapter({ owner })
      : await createLocalAdapter({ root: join(directory, filesName), create: true, owner })
  let disk: Disk | undefined
  try {
    const at = await local.hostDirectory?.(paths.mountRoot)
    if (at === undefined || local.capabilities.confinement !== 'verified')
      throw unusable(
        'ENOTSUP',
        'a replica needs descriptors that can be verified, which this system lacks',
        'use Linux',
      )
    const user = at.owner ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const data: ServiceData = {
      files: at.path,
      stateDirectory: directory === undefined ? undefined : join(directory, stateName),
      maxFileBytes,
      rebuild,
      owner: user,
    }
    disk = await Disk.open(data).catch(explainState)
    const used = disk
    const opened = await used.ask('open')
    const engine = new Engine({ site: siteOf(options, { store, disk: used, opened, files: at.path }), persist })
    await hydrate(engine, opened).catch(async (error: unknown) => {
      await engine.copy.end()
      throw error
    })
    const release = async (): Promise<void> => {
      await used.close()
      await onClose()
    }
    return createAdapter({ local, engine, persist, isKept: directory !== undefined, release })
  } catch (error) {
    await disk?.close()
    await local.close()
    throw error
  }
}

interface Sides {
  readonly store: StorageAdapter
  readonly disk: Disk
  readonly opened: Opened
  readonly files: string
}

function siteOf(options: CheckedOptions, { store, disk, opened, files }: Sides): Omit<Site, 'isBusy'> {
  const { maxFiles, maxBytes, maxFileBytes, machine, rebuild, onEvent } = options
  const tree = new ReplicaTree()
  const turnstile = new Turnstile()
  tree.agree(opened.base)
  for (const [path, facts] of opened.seen) tree.see(path, facts)
  for (const conflict of opened.conflicts) tree.conflicts.set(conflict.kept, conflict)
  return {
    ...{ store, disk, tree, onEvent },
    tombstones: new Tombstones(opened.id),
    packs: new Packs(store),
    turnstile,
    puts: new Puts(disk, turnstile),
    large: new concurrency.Semaphore(2),
    limits: {
      ...{ maxFiles, maxBytes, maxFileBytes },
      maxNameBytes: 255,
      maxPathBytes: Root.longestPath - Buffer.byteLength(files),
      rebuild: new Set(rebuild),
    },
    machine: machine ?? opened.id.replaceAll(/[^A-Za-z0-9]/gu, '').slice(0, 8),
    reserved: () =>
      Reserve.reservedNames.empty ? [] : Reserve.reservedNames.within(files).map((path) => path.slice(files.length)),
  }
}

/** Lists the store, and begins to copy it. Changes of a killed process are pushed, or become conflicts. */
async function hydrate(engine: Engine, opened: Opened): Promise<void> {
  const { store, disk, tree, limits } = engine.site
  const { isNew, store: known } = opened
  const isUnidentified = store.identity === undefined || known === undefined
  const holds = tree.base.size > 0
  const isOther =
    !isNew && (isUnidentified ? holds && !(await holdsAny(store, tree, limits)) : known !== store.identity)
  if (isOther && (holds || (await anythingIn(disk)))) {
    throw unusable(
      'EINVAL',
      'the directory is a copy of another store, or this store has lost everything; nothing was changed',
      'name the store that the directory was made for, or an empty directory',
    )
  }
  if (isNew && (await anythingIn(disk)))
    throw unusable('EINVAL', 'the directory holds other files, which a replica would mix up', 'name an empty directory')
  // the state names its store first: after a kill, the next process continues a partial copy
  if (isNew || isOther) await disk.ask('adopt', store.identity)
  await engine.open(!isNew)
}

async function holdsAny(store: StorageAdapter, { base }: ReplicaTree, limits: Site['limits']): Promise<boolean> {
  const listed = await listStore(store, { ...limits, rebuild: new Set() }, { base, leave: () => undefined })
  return [...base.keys()].some((path) => listed.has(path))
}

async function anythingIn(disk: Disk): Promise<boolean> {
  const { changed, leftOut } = await disk.ask('look', { reserved: [], mapped: false })
  return leftOut.length > 0 || [...changed.keys()].some((path) => path !== paths.mountRoot)
}

function checkStore({ capabilities }: StorageAdapter): void {
  const { conditionalWrite, conditionalDelete, symlinks, readOnly } = capabilities
  if (readOnly) throw unusable('EROFS', 'the store is read-only, and a replica writes', 'mount the store itself')
  if (conditionalWrite !== 'server' || conditionalDelete === 'none') {
    throw unusable(
      'ENOTSUP',
      'the store does not check conditions on writes, so that two writers could lose a version',
      'use a store that does: S3, R2, Ceph or memory',
    )
  }
  if (symlinks) return
  throw unusable('ENOTSUP', 'the store keeps no links, which programs need', "make it with `symlinks: 'rclonelink'`")
}

/** Makes or checks the directory, which may hold only this replica's files and state. */
async function prepare(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o755 })
    const names = await readdir(directory)
    const isOurs = names.includes(stateName) || names.length === 0
    if (isOurs && names.every((name) => name === filesName || name === stateName || name === forksName)) {
      // the state directory is made first: after a kill, it shows whose the files are
      await mkdir(join(directory, stateName), { recursive: true, mode: 0o700 })
      await dropUnfinished(join(directory, filesName))
      return
    }
  } catch (error) {
    throw unusable('EINVAL', 'the directory cannot be made or read', 'name one that this user may write to', error)
  }
  throw unusable('EINVAL', 'the directory holds other files', 'name an empty directory, or one that does not exist yet')
}

/** Removes a directory that a killed process of root had not given to its owner. */
async function dropUnfinished(files: string): Promise<void> {
  const { uid, mode } = await lstat(files).catch(() => ({ uid: -1, mode: 0 })) // the directory does not exist
  if (uid !== 0 || (mode & 0o777) !== 0o700) return
  await rmdir(files).catch(() => undefined) // the directory is not empty, so it is in use
}

function explainState(error: unknown): never {
  if (!isWorkspaceError(error, 'EBUSY')) throw error
  throw unusable(
    'EBUSY',
    'the directory is open already, in this process or in another one',
    'close that replica first, or give each a directory of its own',
  )
}
