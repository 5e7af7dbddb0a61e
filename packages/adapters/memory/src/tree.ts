import { type FileType, paths, type Stat } from '@ws/core'
import { LinkSignal, type MountPath } from '@ws/core/adapter'
import { failure } from './errors.ts'
import type { Node } from './node.ts'

export interface Lookup {
  /** The deepest existing directory on the path. For an existing or missing entry, it is the parent. */
  readonly directory: Node
  /** The missing names below `directory`. */
  readonly missing: readonly string[]
  readonly entry: Node | undefined
}

export interface LocateOptions {
  readonly operation: string
  readonly argument?: LinkSignal['argument'] | undefined
  /** If true, a link at the end is an obstacle too. Default false. */
  readonly follow?: boolean | undefined
}

/** The tree of one adapter, with synchronous methods. */
export abstract class Tree {
  abstract readonly root: Node
  /** Changes whenever an entry may have left its place. Listings then check their place. */
  abstract readonly detachments: number

  abstract create(directory: Node, name: string, type: 'file' | 'directory', mode: number): Node
  abstract createLink(directory: Node, name: string, target: string): Node
  abstract setContent(file: Node, bytes: Uint8Array): Node
  abstract append(file: Node, bytes: Uint8Array): Node
  abstract remove(entry: Node): void
  /** Moves an entry to a free place, and returns the moved entry. */
  abstract move(entry: Node, directory: Node, name: string): Node
  abstract setMode(node: Node, mode: number): void
  abstract setTime(node: Node, modifiedAt: number): Node
  /** True if neither the entry nor a directory above was deleted or moved. */
  abstract isAt(node: Node, path: MountPath): boolean

  /** Walks to a path. @throws LinkSignal at a link on the path (with `follow` also at its end); `ENOTDIR` below a file */
  locate(path: MountPath, { operation, argument, follow = false }: LocateOptions): Lookup {
    const names = paths.segmentsOf(path)
    let directory = this.root
    let at = paths.mountRoot
    for (const [index, name] of names.entries()) {
      const entry = directory.child(name)
      if (entry === undefined) return { directory, missing: names.slice(index), entry }
      at = paths.child(at, name)
      const last = index === names.length - 1
      if (entry.type === 'symlink' && (!last || follow)) {
        throw new LinkSignal({ argument, at, target: entry.target, rest: names.slice(index + 1).join('/') })
      }
      if (last) return { directory, missing: [], entry }
      if (entry.type !== 'directory') throw failure('ENOTDIR', operation, path)
      directory = entry
    }
    return { directory, missing: [], entry: directory }
  }

  find(path: MountPath, options: LocateOptions): Node {
    const { entry } = this.locate(path, options)
    if (entry === undefined) throw failure('ENOENT', options.operation, path)
    return entry
  }

  createDirectories(directory: Node, names: readonly string[]): Node {
    return names.reduce((parent, name) => this.create(parent, name, 'directory', 0o755), directory)
  }

  /** Whether a path can name the entry. */
  isReachable(_path: MountPath): boolean {
    return true
  }

  describe(node: Node, _details: boolean): Partial<Stat> & Pick<Stat, 'type'> {
    return statOf(node)
  }

  explain(error: unknown, _operation: string, _path: MountPath): unknown {
    return error
  }
}

export function statOf({ type, size, modifiedAt, mode, version }: Node): Stat {
  return { type, size, modifiedAt, mode, version }
}

export function isEmpty(directory: Node): boolean {
  return directory.type !== 'directory' || directory.children().next().done === true
}

export function typeError(type: FileType, operation: string, path: MountPath): Error {
  return failure(type === 'directory' ? 'EISDIR' : 'notAFile', operation, path)
}
