import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

import { parseMountPath, type StorageAdapter } from '@ws/core/adapter'

/** Files at a time. */
const concurrency = 16

/**
 * Copies a directory of this machine into a store. It leaves out a git repository, which is useless to programs that
 * cannot run there, and entries that the store cannot hold: links, names with control characters.
 */
export async function upload(directory: string, adapter: StorageAdapter): Promise<void> {
  const { symlinks, controlCharacters } = adapter.capabilities
  const tasks: (() => Promise<unknown>)[] = []
  const walk = async (below: string): Promise<void> => {
    const entries = await readdir(directory + below, { withFileTypes: true })
    if (entries.length === 0 && below !== '') tasks.push(() => adapter.createDirectory(parseMountPath(below)))
    for (const entry of entries) {
      const { name } = entry
      if (name === '.git' || (!controlCharacters && /\p{Cc}/u.test(name))) continue
      const [path, host] = [`${below}/${name}`, join(directory + below, name)]
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) {
        tasks.push(async () => adapter.write(parseMountPath(path), await readFile(host), { parents: true }))
      } else if (symlinks) {
        tasks.push(async () => adapter.createSymlink?.(parseMountPath(path), await readlink(host)))
      }
    }
  }
  await walk('')
  const work = async (): Promise<void> => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) await task()
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}
