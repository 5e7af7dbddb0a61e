import { readFile, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { type StorageAdapter, type Workspace, parseMountPath } from '@ws/core'

import { drain } from '../measure.ts'
import { type Place, content } from './places.ts'

/** How one way does what is done with small files. Paths are relative: `files/f1`. */
export interface FileWay {
  readonly name: string
  readonly place: Place
  create(path: string): Promise<unknown>
  /** The same, so that others see all of the file or nothing. */
  createWhole(path: string): Promise<unknown>
  stat(path: string): Promise<unknown>
  read(path: string): Promise<unknown>
  /** With size and time of each. */
  list(directory: string): Promise<unknown>
  remove(path: string): Promise<unknown>
}

/** The functions of Node, as anybody would use them. */
export function inDirectory(name: string, place: Place, root: string): FileWay {
  const at = (path: string): string => join(root, path)
  return {
    name,
    place,
    create: (path) => writeFile(at(path), content),
    async createWhole(path) {
      await writeFile(at(`${path}.new`), content, { flag: 'wx' })
      await rename(at(`${path}.new`), at(path))
    },
    stat: (path) => stat(at(path)),
    read: (path) => readFile(at(path)),
    async list(directory) {
      for (const entry of await readdir(at(directory))) await stat(join(at(directory), entry))
    },
    remove: (path) => unlink(at(path)),
  }
}

export function ofAdapter(name: string, place: Place, adapter: StorageAdapter): FileWay {
  const at = (path: string) => parseMountPath(`/${path}`)
  return {
    name,
    place,
    create: (path) => adapter.write(at(path), content),
    createWhole: (path) => adapter.write(at(path), content),
    stat: (path) => adapter.stat(at(path)),
    read: (path) => adapter.read(at(path)),
    list: (directory) => drain(adapter.list(at(directory), { details: true })),
    remove: (path) => adapter.delete(at(path)),
  }
}

/** `root` is where the workspace's mount is. */
export function ofWorkspace(name: string, place: Place, workspace: Workspace, root: string): FileWay {
  const at = (path: string): string => `${root}/${path}`
  return {
    name,
    place,
    create: (path) => workspace.write(at(path), content),
    createWhole: (path) => workspace.write(at(path), content),
    stat: (path) => workspace.stat(at(path)),
    read: (path) => workspace.read(at(path)),
    list: (directory) => drain(workspace.list(at(directory), { details: true })),
    remove: (path) => workspace.delete(at(path)),
  }
}
