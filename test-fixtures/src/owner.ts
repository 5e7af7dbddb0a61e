import { chownSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** A directory that is removed with its content when it goes out of scope. */
export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string
  readonly owner: Owner
  /** Makes a directory with its parents for the owner. @returns its path */
  createDirectory(path: string): Promise<string>
  remove(): Promise<void>
}

export interface ScratchDirectoryOptions {
  /** The directory's owner. Default {@link ordinaryOwner}. */
  readonly owner?: Owner | undefined
  readonly prefix?: string | undefined
}

/** The user of commands in tests: 1000/1000 for root, otherwise the tester. Needs no entry in `/etc/passwd`. */
export function ordinaryOwner(): Owner {
  const uid = process.getuid?.() ?? 1000
  const gid = process.getgid?.() ?? 1000
  return uid === 0 ? { uid: 1000, gid: 1000 } : { uid, gid }
}

/** Options for `spawn` that run a program as the owner. Only root needs them. */
export function asOwner(owner = ordinaryOwner()): Partial<Owner> {
  return process.getuid?.() === 0 ? { uid: owner.uid, gid: owner.gid } : {}
}

/** Gives an entry to the owner if this process is root. */
export function give(path: string, owner = ordinaryOwner()): void {
  if (process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid)
}

/** Makes an empty directory (mode 0755) below the system's temporary directory. */
export async function createScratchDirectory(options: ScratchDirectoryOptions = {}): Promise<ScratchDirectory> {
  const { owner = ordinaryOwner(), prefix = 'ws-test-' } = options
  const path = await mkdtemp(join(await realpath(tmpdir()), prefix))
  await chmod(path, 0o755)
  give(path, owner)
  const remove = () => removeTree(path)
  const createDirectory = async (below: string): Promise<string> => {
    let directory = path
    for (const name of below.split('/')) {
      directory = join(directory, name)
      await mkdir(directory, { recursive: true })
      give(directory, owner)
    }
    return directory
  }
  return { path, owner, createDirectory, remove, [Symbol.asyncDispose]: remove }
}

async function removeTree(path: string): Promise<void> {
  if (process.getuid?.() !== 0) await unlockDirectories(path)
  await rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
}

async function unlockDirectories(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat === undefined || !stat.isDirectory()) return
  await chmod(path, 0o700).catch(() => undefined)
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) if (entry.isDirectory()) await unlockDirectories(join(path, entry.name))
}
