import type { FileType, Stat } from '../contract/file-types.ts'

const typeBits: { readonly [Type in FileType]: number } = {
  file: 0o100_000,
  directory: 0o040_000,
  symlink: 0o120_000,
  other: 0o010_000,
}
const defaultBits: { readonly [Type in FileType]: number } = {
  file: 0o644,
  directory: 0o755,
  symlink: 0o777,
  other: 0o644,
}

class Typed {
  readonly #type: FileType

  constructor(type: FileType) {
    this.#type = type
  }

  isFile(): boolean {
    return this.#type === 'file'
  }

  isDirectory(): boolean {
    return this.#type === 'directory'
  }

  isSymbolicLink(): boolean {
    return this.#type === 'symlink'
  }

  isFIFO(): boolean {
    return this.#type === 'other'
  }

  isSocket(): boolean {
    return false
  }

  isBlockDevice(): boolean {
    return false
  }

  isCharacterDevice(): boolean {
    return false
  }
}

/** A stat in the shape of Node's `Stats`. `dev`, `ino`, `uid`, `gid` and `rdev` are 0. Every time is the time of the last change. */
export class Stats extends Typed {
  readonly dev = 0
  readonly ino = 0
  readonly uid = 0
  readonly gid = 0
  readonly rdev = 0
  readonly nlink = 1
  readonly blksize = 4096
  readonly mode: number
  readonly size: number
  readonly blocks: number
  readonly atimeMs: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly birthtimeMs: number
  readonly atime: Date
  readonly mtime: Date
  readonly ctime: Date
  readonly birthtime: Date

  constructor({ type, size, mode = defaultBits[type], modifiedAt = 0 }: Omit<Stat, 'version'>) {
    super(type)
    this.mode = typeBits[type] | mode
    this.size = size
    this.blocks = Math.ceil(size / 512)
    this.atimeMs = this.mtimeMs = this.ctimeMs = this.birthtimeMs = modifiedAt
    this.atime = new Date(modifiedAt)
    this.mtime = new Date(modifiedAt)
    this.ctime = new Date(modifiedAt)
    this.birthtime = new Date(modifiedAt)
  }
}

export class Dirent extends Typed {
  readonly name: string
  readonly parentPath: string

  constructor(type: FileType, name: string, parentPath: string) {
    super(type)
    this.name = name
    this.parentPath = parentPath
  }
}
