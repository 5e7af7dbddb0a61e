import { chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { type Owner, type StorageAdapter, parseMountPath } from '@ws/core/adapter'

/** Files that are put at a time. */
const concurrency = 16

/** A target for files: they are the same by every way that leads there. Paths are relative: `files/f1`. */
export interface FileTarget {
  /** Milliseconds for which the kernel believes what it knows of a file without asking again; 0 where that is for ever. */
  readonly maxStaleness: number
  /** Puts a file of {@link content} at each path, as fast as it goes. */
  fill(paths: readonly string[]): Promise<void>
  /** Waits until nothing of what was done there is under way any more. */
  settle(): Promise<void>
}

/** The content of every file: 1 KiB. */
export const content = Buffer.alloc(1_024, 'x')

export interface DirectoryTargetOptions extends Partial<Omit<FileTarget, 'fill'>> {
  /** The owner of the files put there. Default: none, since on a mount everything is its owner's. */
  readonly owner?: Owner | undefined
}

/** A directory of this machine, or a mount that looks like one. */
export function directoryTarget(root: string, { owner, ...rest }: DirectoryTargetOptions = {}): FileTarget {
  return {
    maxStaleness: 0,
    settle: async () => undefined,
    ...rest,
    async fill(paths) {
      for (const directory of new Set(paths.map(dirname))) await mkdir(join(root, directory), { recursive: true })
      await forEach(paths, (path) => writeFile(join(root, path), content))
      if (owner !== undefined) await give(root, owner)
    },
  }
}

async function give(root: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const name of await readdir(root, { recursive: true })) await chown(join(root, name), uid, gid)
}

/** A bucket that is reached by its API: every operation has ended when it says so. */
export function bucketTarget(adapter: StorageAdapter): FileTarget {
  return {
    maxStaleness: 0,
    settle: async () => undefined,
    fill: (paths) => forEach(paths, (path) => adapter.write(parseMountPath(`/${path}`), content)),
  }
}

async function forEach(paths: readonly string[], work: (path: string) => Promise<unknown>): Promise<void> {
  const left = paths.values()
  const worker = async (): Promise<void> => {
    for (const path of left) await work(path)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
