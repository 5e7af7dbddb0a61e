import { paths, type Stat, type Version } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import { failure } from '../errors.ts'
import { statOf, Tree } from '../tree.ts'
import { explain, RootIsGone } from './errors.ts'
import type { VolumeFileSystem } from './file-system.ts'
import { statsOf, VolumeNode } from './node.ts'

/** The tree below a directory of a volume. Other code may change the volume between operations. */
export class VolumeTree extends Tree {
  readonly #fs: VolumeFileSystem
  readonly #root: MountPath
  #looks = 0

  constructor(fs: VolumeFileSystem, root: MountPath) {
    super()
    this.#fs = fs
    this.#root = root
  }

  get root(): VolumeNode {
    const stats = statsOf(this.#fs, this.#root)
    if (stats?.isDirectory() === true) return new VolumeNode(this.#fs, this.#root === '/' ? '' : this.#root, stats)
    throw new RootIsGone()
  }

  /** A new number for each call, because other code may have changed the volume. */
  get detachments(): number {
    this.#looks += 1
    return this.#looks
  }

  create(directory: VolumeNode, name: string, type: 'file' | 'directory', mode: number): VolumeNode {
    const place = `${directory.place}/${name}`
    if (type === 'file') this.#fs.writeFileSync(place, new Uint8Array(), { mode, flag: 'wx' })
    else this.#fs.mkdirSync(place, { mode })
    this.#fs.chmodSync(place, mode) // a file system may take its umask away
    return this.#at(directory, name)
  }

  createLink(directory: VolumeNode, name: string, target: string): VolumeNode {
    this.#fs.symlinkSync(target, `${directory.place}/${name}`)
    return this.#at(directory, name)
  }

  setContent(file: VolumeNode, bytes: Uint8Array): VolumeNode {
    this.#fs.writeFileSync(file.place, bytes)
    return this.#again(file)
  }

  append(file: VolumeNode, bytes: Uint8Array): VolumeNode {
    this.#fs.appendFileSync(file.place, bytes)
    return this.#again(file)
  }

  remove({ type, place }: VolumeNode): void {
    if (type === 'directory') this.#fs.rmSync(place, { recursive: true })
    else this.#fs.unlinkSync(place)
  }

  move(entry: VolumeNode, directory: VolumeNode, name: string): VolumeNode {
    if (entry.type === 'symlink') {
      // memfs would rename the target of a link
      this.createLink(directory, name, entry.target)
      this.remove(entry)
    } else this.#fs.renameSync(entry.place, `${directory.place}/${name}`)
    return this.#at(directory, name)
  }

  setMode(node: VolumeNode, mode: number): void {
    this.#fs.chmodSync(node.place, mode)
    this.setTime(node, node.modifiedAt) // memfs sets it with the bits
  }

  setTime(node: VolumeNode, modifiedAt: number): VolumeNode {
    // half a millisecond keeps the conversion to seconds from rounding down
    const seconds = (modifiedAt + 0.5) / 1000
    this.#fs.utimesSync(node.place, seconds, seconds)
    return this.#again(node)
  }

  isAt(_node: VolumeNode, path: MountPath): boolean {
    return statsOf(this.#fs, paths.join(this.#root, path))?.isDirectory() === true
  }

  override isReachable(path: MountPath): boolean {
    try {
      return paths.parseMount(path) === path
    } catch {
      return false // that is the answer
    }
  }

  /** Reads no content, and so no version, without details. */
  override describe(node: VolumeNode, details: boolean): Omit<Stat, 'version'> & { readonly version?: Version } {
    const { type, size, modifiedAt, mode } = node
    return details ? statOf(node) : { type, size, modifiedAt, mode }
  }

  override explain(error: unknown, operation: string, path: MountPath): unknown {
    return explain(error, operation, path)
  }

  #at(directory: VolumeNode, name: string): VolumeNode {
    const node = directory.child(name)
    if (node === undefined) throw failure('ENOENT', 'stat', `/${name}`)
    return node
  }

  #again({ name, parent }: VolumeNode): VolumeNode {
    return parent === undefined ? this.root : this.#at(parent, name)
  }
}
