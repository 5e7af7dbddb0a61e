import { chown, mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import { ordinaryOwner } from './owner.ts'

/** Writes a file below `base` and gives it, and the directories made for it, to the ordinary owner. */
export async function put(path: string, content: string, base: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  for (let current = path; current !== base && current !== '/'; current = dirname(current)) await give(current)
}

/** Makes a directory with its parents. Those that it made belong to the ordinary owner. */
export async function makeDirectory(path: string): Promise<string> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return path
  for (let made = path; made.length >= first.length; made = dirname(made)) await give(made)
  return path
}

async function give(path: string): Promise<void> {
  const owner = ordinaryOwner()
  if (process.getuid?.() === 0) await chown(path, owner.uid, owner.gid)
}
