import { readFile, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { Workspace } from '@ws/core'
import { type StorageAdapter, parseMountPath } from '@ws/core/adapter'

import { drain } from '../measure.ts'
import { type FileTarget, content } from './targets.ts'

export interface FileWay {
  readonly name: string
  readonly target: FileTarget
  create(path: string): Promise<unknown>
  /** The same, so that others see all of the file or nothing. */
  createWhole(path: string): Promise<unknown>
  stat(path: string): Promise<unknown>
  read(path: string): Promise<unknown>
  /** With size and time of each. */
  list(directory: string): Promise<unknown>
  remove(path: string): Promise<unknown>
}

/** The functions of Node, in their usual form. */
export function inDirectory(name: string, target: FileTarget, root: string): FileWay {
  const at = (path: string): string => join(root, path)
  return {
    name,
    target,
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

/** The operations that an adapter and a workspace share; only the type of paths differs. */
interface Files<Path> {
  write(path: Path, data: Uint8Array): Promise<unknown>
  stat(path: Path): Promise<unknown>
  read(path: Path): Promise<unknown>
  list(path: Path, options: { readonly details: true }): AsyncIterable<unknown>
  delete(path: Path): Promise<unknown>
}

function through<Path>(name: string, target: FileTarget, files: Files<Path>, at: (path: string) => Path): FileWay {
  const create = (path: string): Promise<unknown> => files.write(at(path), content)
  return {
    name,
    target,
    create,
    createWhole: create,
    stat: (path) => files.stat(at(path)),
    read: (path) => files.read(at(path)),
    list: (directory) => drain(files.list(at(directory), { details: true })),
    remove: (path) => files.delete(at(path)),
  }
}

export function ofAdapter(name: string, target: FileTarget, adapter: StorageAdapter): FileWay {
  return through(name, target, adapter, (path) => parseMountPath(`/${path}`))
}

/** `root` is where the workspace's mount is. */
export function ofWorkspace(name: string, target: FileTarget, workspace: Workspace, root: string): FileWay {
  return through(name, target, workspace, (path) => `${root}/${path}`)
}
