import { hash } from 'node:crypto'

import type { FileType } from '@ws/core'

import type { Node } from '../node.ts'
import { isForbidden, isMissing } from './errors.ts'
import type { VolumeFileSystem, VolumeStats } from './file-system.ts'

/** An entry of a volume as last seen. Reads its content, target and entries on demand. */
export class VolumeNode implements Node {
  readonly type: FileType
  readonly name: string
  readonly parent: VolumeNode | undefined
  /** The entry's path in the volume; empty for the volume's root. */
  readonly place: string
  readonly #fs: VolumeFileSystem
  readonly #stats: VolumeStats

  constructor(fs: VolumeFileSystem, place: string, stats: VolumeStats, name = '', parent?: VolumeNode) {
    this.#fs = fs
    this.#stats = stats
    this.type = typeOf(stats)
    this.place = place
    this.name = name
    this.parent = parent
  }

  get mode(): number {
    return Number(this.#stats.mode) & 0o777
  }

  get modifiedAt(): number {
    return Math.trunc(Number(this.#stats.mtimeMs))
  }

  get size(): number {
    return this.type === 'file' ? Number(this.#stats.size) : 0
  }

  get target(): string {
    return String(this.#fs.readlinkSync(this.place))
  }

  get content(): Uint8Array {
    try {
      return new Uint8Array(this.#fs.readFileSync(this.place) as Uint8Array)
    } catch (error) {
      if (isMissing(error)) return new Uint8Array() // the file was removed after its lookup
      throw error
    }
  }

  /** The version depends on the content, because two changes within one millisecond can leave all numbers of a volume equal. */
  get version(): string {
    const { ino, mode, mtimeMs, ctimeMs } = this.#stats
    const numbers = `${this.type} ${ino} ${mode} ${mtimeMs} ${ctimeMs}`
    return `${hash('sha1', numbers, 'base64url')}.${hash('sha1', this.#state(), 'base64url')}`
  }

  child(name: string): VolumeNode | undefined {
    const place = `${this.place}/${name}`
    const stats = statsOf(this.#fs, place)
    return stats && new VolumeNode(this.#fs, place, stats, name, this)
  }

  *children(): IterableIterator<readonly [string, VolumeNode]> {
    for (const name of this.#names()) {
      const node = this.child(name)
      if (node !== undefined) yield [name, node]
    }
  }

  #names(): string[] {
    try {
      return (this.#fs.readdirSync(this.place || '/') as unknown[]).map(String)
    } catch (error) {
      if (isMissing(error)) return [] // the directory was removed after its lookup
      throw error
    }
  }

  #state(): string | Uint8Array {
    try {
      if (this.type === 'file') return this.content
      if (this.type === 'symlink') return this.target
      return this.type === 'directory' ? this.#names().join('\0') : ''
    } catch (error) {
      if (isForbidden(error)) return '' // its bits keep everyone from reading it
      throw error
    }
  }
}

export function statsOf(fs: VolumeFileSystem, place: string): VolumeStats | undefined {
  try {
    return fs.lstatSync(place)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function typeOf(stats: VolumeStats): FileType {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}
