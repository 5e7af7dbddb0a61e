import { closeSync, lstatSync, openSync, readdirSync } from 'node:fs'

import { nativeCode } from '../errors.ts'
import { type Facts, inodeOf } from './facts.ts'
import { listing, selfOf } from './root.ts'

/** Maximum depth of reading below a name that cannot be saved. */
const mostLevels = 64

interface Level {
  readonly fd: number
  readonly names: Buffer[]
}

/** Inodes that a scan found but cannot save. If a missing entry has such an inode, it was moved. Birth times detect reused inodes. */
export class Strays {
  /** True if some entries could not be read. Missing entries may be among them. */
  isPartial = false
  readonly #device: number
  readonly #found = new Set<string>()

  constructor(device: number) {
    this.#device = device
  }

  has(facts: Facts | undefined): boolean {
    return facts !== undefined && this.#found.has(`${facts.ino} ${facts.birth}`)
  }

  add({ ino, birth }: Pick<Facts, 'ino' | 'birth'>): void {
    this.#found.add(`${ino} ${birth}`)
  }

  /** Adds an entry whose name cannot be saved, and everything below it. */
  take(parent: number, name: Buffer): void {
    const levels: Level[] = [{ fd: parent, names: [name] }]
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const next = level.names.pop()
      if (next === undefined) {
        levels.pop()
        if (levels.length > 0) closeSync(level.fd)
        continue
      }
      try {
        const below = this.#look(Buffer.concat([Buffer.from(`${selfOf(level.fd)}/`), next]), levels.length)
        if (below !== undefined) levels.push(below)
      } catch (error) {
        if (nativeCode(error) !== 'ENOENT') this.isPartial = true
      }
    }
  }

  #look(place: Buffer, depth: number): Level | undefined {
    const status = lstatSync(place)
    // a rename cannot move an entry to another file system
    if (status.dev !== this.#device) return undefined
    this.add({ ino: inodeOf(status, () => lstatSync(place, { bigint: true })), birth: status.birthtimeMs })
    if (!status.isDirectory()) return undefined
    this.isPartial ||= depth > mostLevels
    if (depth > mostLevels) return undefined
    const fd = openSync(place, listing)
    try {
      return { fd, names: readdirSync(selfOf(fd), { encoding: 'buffer' }) }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }
}
