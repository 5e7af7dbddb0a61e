import { readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Contender, OpenContender } from './contender.ts'

/** The plain calls: everything is compared with them. */
export const openNode: OpenContender = async (directory) => {
  const at = (path: string): string => join(directory, path)
  return {
    name: 'fs.promises',
    operations: {
      read: (path) => readFile(at(path)),
      stat: (path) => stat(at(path)),
      list: (path) => readdir(at(path), { withFileTypes: true }),
      async listWithDetails(path) {
        const entries = await readdir(at(path), { withFileTypes: true })
        return await Promise.all(entries.map(({ name }) => stat(join(at(path), name))))
      },
      listTree: (path) => readdir(at(path), { recursive: true, withFileTypes: true }),
      write: (path, content) => writeFile(at(path), content),
      create: (path, content) => writeFile(at(path), content, { flag: 'wx' }),
    },
  }
}

/** The plain calls again, each awaited before the next: as a loop over a listing does it. */
export function openNodeInTurn(directory: string): Contender {
  return {
    name: 'fs.promises in turn',
    operations: {
      async listWithDetails(path) {
        const at = join(directory, path)
        const found: unknown[] = []
        for (const { name } of await readdir(at, { withFileTypes: true })) found.push(await stat(join(at, name)))
        return found
      },
    },
  }
}
