import { chmod, lchown, mkdtemp, readdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Owner } from '@ws/core/adapter'
import { Temporary } from '@ws/sandbox'

/** A temporary directory of this machine. */
export interface Scratch extends AsyncDisposable {
  readonly directory: string
  give(directory: string): Promise<void>
}

export async function createScratch(owner: Owner): Promise<Scratch> {
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'ws-check-'))
  await chmod(directory, 0o755) // the owner must be able to pass through the directory
  return {
    directory,
    give: (path) => give(owner, path),
    [Symbol.asyncDispose]: async () => Temporary.removeTree(directory),
  }
}

async function give({ uid, gid }: Owner, directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  await lchown(directory, uid, gid)
  for (const entry of entries) await lchown(join(entry.parentPath, entry.name), uid, gid)
}
