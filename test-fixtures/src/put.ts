import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import { give, ordinaryOwner } from './owner.ts'

/** Writes a file below `base` for an owner, and makes its directories. Default: the ordinary owner. */
export async function put(
  path: string,
  content: string | Uint8Array,
  base: string,
  owner = ordinaryOwner(),
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  for (let current = path; current !== base && current !== '/'; current = dirname(current)) give(current, owner)
}

/** Makes missing directories for the ordinary owner. */
export async function makeDirectory(path: string): Promise<string> {
  const first = await mkdir(path, { recursive: true })
  if (first === undefined) return path
  for (let made = path; made.length >= first.length; made = dirname(made)) give(made)
  return path
}
