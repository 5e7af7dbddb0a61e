import { chmod, lchown, mkdtemp, readdir, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Owner } from '@ws/core/adapter'

/** A directory of this machine that is removed again. */
export interface Scratch extends AsyncDisposable {
  readonly directory: string
  /** Gives a directory and everything in it to the owner. */
  give(directory: string): Promise<void>
}

export async function createScratch(owner: Owner): Promise<Scratch> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'ws-check-'))
  await chmod(directory, 0o755) // the owner has to come through
  return {
    directory,
    give: (path) => give(owner, path),
    [Symbol.asyncDispose]: () => removeTree(directory),
  }
}

async function give({ uid, gid }: Owner, directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  await lchown(directory, uid, gid)
  for (const entry of entries) await lchown(join(entry.parentPath, entry.name), uid, gid)
}

/** Commands may leave directories that nobody may enter; those are opened first. */
async function removeTree(directory: string): Promise<void> {
  const unlock = async (path: string): Promise<void> => {
    await chmod(path, 0o700)
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await unlock(join(path, entry.name))
    }
  }
  if (process.getuid?.() !== 0) await unlock(directory).catch(() => undefined)
  await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
}
