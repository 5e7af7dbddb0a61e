import { readFile, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { paths, type Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

import { drain, own } from './measure.ts'

/** The measured operations, each over one directory. Paths are relative to it: `dir/file`. */
export interface FileWay {
  readonly name: string
  read(path: string): Promise<unknown>
  stat(path: string): Promise<unknown>
  /** Lists names and types. */
  list(path: string): Promise<unknown>
  /** Lists names, types, sizes and times. Plain calls run all at once. */
  listAtOnce(path: string): Promise<unknown>
  /** Lists like `listAtOnce`. Plain calls run one after another. */
  listInTurn(path: string): Promise<unknown>
  listTree(path: string): Promise<unknown>
  write(path: string, content: Uint8Array): Promise<unknown>
  /** Writes a new file so that readers see all of it or none of it. */
  writeWhole(path: string, content: Uint8Array): Promise<unknown>
  create(path: string, content: Uint8Array): Promise<unknown>
  delete(path: string): Promise<unknown>
}

export function plainFiles(name: string, root: string): FileWay {
  const at = (path: string): string => join(root, path)
  return {
    name,
    read: (path) => readFile(at(path)),
    stat: (path) => stat(at(path)),
    list: (path) => readdir(at(path), { withFileTypes: true }),
    async listAtOnce(path) {
      const entries = await readdir(at(path), { withFileTypes: true })
      return await Promise.all(entries.map((entry) => stat(join(at(path), entry.name))))
    },
    async listInTurn(path) {
      for (const entry of await readdir(at(path))) await stat(join(at(path), entry))
    },
    listTree: (path) => readdir(at(path), { recursive: true, withFileTypes: true }),
    write: (path, content) => writeFile(at(path), content),
    async writeWhole(path, content) {
      await writeFile(at(`${path}.new`), content, { flag: 'wx' })
      await rename(at(`${path}.new`), at(path))
    },
    create: (path, content) => writeFile(at(path), content, { flag: 'wx' }),
    delete: (path) => unlink(at(path)),
  }
}

export function workspaceFiles(workspace: Workspace): FileWay {
  return filesOf(own, workspace, (path) => `${workspace.root}/${path}`)
}

export function adapterFiles(adapter: StorageAdapter): FileWay {
  return filesOf('adapter alone', adapter, (path) => paths.parseMount(`/${path}`))
}

/** The operations that an adapter and a workspace share; only the type of paths differs. */
interface Store<Path> {
  read(path: Path): Promise<unknown>
  stat(path: Path): Promise<unknown>
  list(path: Path, options?: { readonly details?: true; readonly recursive?: true }): AsyncIterable<unknown>
  write(path: Path, data: Uint8Array, options?: { readonly ifVersion: 'absent' }): Promise<unknown>
  delete(path: Path): Promise<unknown>
}

function filesOf<Path>(name: string, store: Store<Path>, at: (path: string) => Path): FileWay {
  const write: FileWay['write'] = (path, content) => store.write(at(path), content)
  const listDetails: FileWay['list'] = (path) => drain(store.list(at(path), { details: true }))
  return {
    name,
    read: (path) => store.read(at(path)),
    stat: (path) => store.stat(at(path)),
    list: (path) => drain(store.list(at(path))),
    listAtOnce: listDetails,
    listInTurn: listDetails,
    listTree: (path) => drain(store.list(at(path), { recursive: true })),
    write,
    writeWhole: write,
    create: (path, content) => store.write(at(path), content, { ifVersion: 'absent' }),
    delete: (path) => store.delete(at(path)),
  }
}
