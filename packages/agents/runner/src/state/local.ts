import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, realpath, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { HostDirectory, Owner } from '@ws/core/adapter'
import { HostPaths, Temporary } from '@ws/sandbox'
import { createMachineLeases } from '@ws/threads'

import { invalid } from '../errors.ts'
import { inReach, otherVersion } from './faults.ts'
import { openObjectJournal } from './objects.ts'
import { stagingName, type RunState, type Staging } from './state.ts'

export interface LocalStateOptions {
  readonly directory: string
  readonly mounted: readonly HostDirectory[]
  readonly owner?: Owner | undefined
}

/** File systems whose locks do not exclude processes on other machines: FUSE, NFS, SMB, CIFS, 9P. */
const remote: ReadonlySet<number> = new Set([0x65735546, 0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997])

/** Opens the journal and staging of an output's runs. @throws WorkspaceError `EINVAL` if steps see the state, or on a network file system */
export async function openLocalState(options: LocalStateOptions): Promise<RunState> {
  const { owner, mounted } = options
  const directory = resolve(options.directory)
  const staging = join(directory, 'staging')
  const root = join(directory, 'journal')
  try {
    refuseMounted(await existingPart(directory), mounted)
    if (existsSync(join(directory, 'journal.sqlite'))) throw otherVersion(1)
    // Commands may run as another user, who can enter this directory but not list it.
    const made = await mkdir(staging, { recursive: true, mode: 0o711 })
    refuseMounted(await realpath(directory), mounted)
    if (made !== undefined) await Promise.all([directory, staging].map((path) => chmod(path, 0o711)))
    if (remote.has((await statfs(directory)).type)) {
      throw invalid('openState', 'the state directory lies on a network file system', 'give one on a local disk')
    }
    await mkdir(root, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw isWorkspaceError(error) ? error : unusable(error)
  }
  const objects = await createLocalAdapter({ root }) // its exclusive creation works between processes
  const journal = await openObjectJournal(objects).catch(async (error: unknown) => {
    await objects.close()
    throw error
  })
  const pathOf = (name: string): string => join(staging, name)

  const leases = createMachineLeases({ key: 'runs', directory: join(directory, 'leases') })

  return {
    journal,
    leases,
    async openStaging(key, { fresh }): Promise<Staging> {
      const root = pathOf(stagingName(key))
      try {
        if (fresh) Temporary.removeTree(root)
        await mkdir(root, { recursive: true, mode: 0o700 })
        if (owner !== undefined && process.getuid?.() === 0) await chown(root, owner.uid, owner.gid)
      } catch (error) {
        throw unusable(error)
      }
      const adapter = await createLocalAdapter({ root, owner })
      return { adapter, close: () => adapter.close() }
    },
    async removeStaging(key) {
      Temporary.removeTree(pathOf(stagingName(key)))
    },
    async sweep(keep) {
      const kept = new Set(keep.map((key) => stagingName(key)))
      const names = (await readdir(staging)).filter((name) => !kept.has(name))
      for (const name of names) Temporary.removeTree(pathOf(name))
    },
    async close() {
      await leases.close()
      await objects.close()
    },
  }
}

export function defaultStateDirectory(identity: string): string {
  return join(HostPaths.stateHome('runs'), identity.replaceAll(':', '-'))
}

async function existingPart(path: string): Promise<string> {
  for (let part = path; ; part = join(part, '..')) {
    const real = await realpath(part).catch(() => undefined) // the caller checks the real path again after creating the directory
    if (real !== undefined) return join(real, path.slice(part.length))
  }
}

/** @throws WorkspaceError `EINVAL` for a directory inside or around one of `mounted` */
export function refuseMounted(directory: string, mounted: readonly HostDirectory[]): void {
  for (const { path } of mounted) {
    const isIn = directory === path || directory.startsWith(`${path}/`) || path.startsWith(`${directory}/`)
    if (isIn) throw inReach()
  }
}

function unusable(native: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EIO',
    operation: 'openState',
    reason: 'the state directory cannot be used',
    remedy: 'give one that can be written, or make `$XDG_STATE_HOME` (default `~/.local/state`) writable',
    native,
  })
}
