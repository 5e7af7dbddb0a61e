import { execFileSync, spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'

import type { StorageAdapter } from '@ws/core/adapter'

import { at, filesOf } from './site.ts'

const invalid = Buffer.of(0xff)

/** A machine whose disk is small, whose host mounts over directories, and whose programs give names that are not UTF-8. */
export class OddMachine {
  readonly directory: string
  readonly #disk: string
  readonly #mounted = new Set<string>()
  root = ''
  #isEnded = false

  /** @param disk a directory of this machine alone */
  constructor(disk: string) {
    this.#disk = disk
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=755', 'odd', disk])
    this.directory = `${disk}/r`
    mkdirSync(`${disk}/elsewhere`)
    writeFileSync(`${disk}/elsewhere/g0`, 'not of this tree')
  }

  changeOnce(pick: (count: number) => number): void {
    const { root } = this
    const [file, directory] = [`${root}/f${pick(4)}`, `${root}/d${pick(2)}`]
    const acts = [
      () => this.#rename(file, Buffer.concat([Buffer.from(file), invalid])),
      () => this.#rename(directory, Buffer.concat([Buffer.from(directory), invalid])),
      () => this.#rename(file, Buffer.concat([Buffer.from(`${directory}-`), invalid, Buffer.from('/inside')])),
      () => this.#nameAgain(),
      () => this.#mount(directory, ['-t', 'tmpfs', '-o', 'ro', 'over']),
      () => this.#mount(directory, ['-o', 'bind,ro', `${this.#disk}/elsewhere`]),
      () => this.#unmount(),
      () => this.#fill(),
      () => rmSync(`${this.#disk}/fill`, { force: true }),
    ]
    acts[pick(acts.length)]?.()
  }

  /** Ends all that is odd, so that the machine can come to rest. */
  settle(): void {
    this.#unmount()
    rmSync(`${this.#disk}/fill`, { force: true })
    for (let more = true; more; ) more = this.#nameAgain()
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#unmount()
    spawnSync('umount', ['-l', this.#disk])
  }

  #rename(from: string, to: Buffer): void {
    // nothing is written over: a rename is not a deletion
    if (
      lstatSync(to, { throwIfNoEntry: false }) !== undefined ||
      lstatSync(from, { throwIfNoEntry: false }) === undefined
    )
      return
    const above = to.subarray(0, to.lastIndexOf('/'))
    mkdirSync(above, { recursive: true })
    if (!this.#mounted.has(from)) renameSync(from, to)
  }

  #nameAgain(): boolean {
    const names = readdirSync(this.root, { encoding: 'buffer' })
    const odd = names.find((name) => name.includes(0xff))
    if (odd === undefined) return false
    const free = Array.from({ length: 99 }, (_, number) => `${this.root}/again${number}`)
    const name = free.find((one) => lstatSync(one, { throwIfNoEntry: false }) === undefined) ?? ''
    renameSync(Buffer.concat([Buffer.from(`${this.root}/`), odd]), name)
    return true
  }

  #mount(directory: string, words: readonly string[]): void {
    const there = lstatSync(directory, { throwIfNoEntry: false })
    if (there?.isDirectory() !== true || this.#mounted.has(directory)) return
    execFileSync('mount', [...words, directory])
    this.#mounted.add(directory)
  }

  #unmount(): void {
    for (const directory of this.#mounted) execFileSync('umount', [directory])
    this.#mounted.clear()
  }

  #fill(): void {
    const { bavail, bsize } = statfsSync(this.#disk)
    // some is left for the state, or nothing
    writeFileSync(`${this.#disk}/fill`, Buffer.alloc(bavail * bsize))
  }
}

/** Counts the deletions in a store, and names those of a text that no program has deleted, and that the store has at no other place. */
export function watchDeletions(store: StorageAdapter, isCovered: (text: string) => boolean) {
  const found = { deletions: 0, wrong: [] as string[] }
  const { delete: remove } = store
  store.delete = async (path, options) => {
    const text = await textAt(store, path)
    await remove.call(store, path, options)
    found.deletions += 1
    if (text === undefined || isCovered(text)) return
    if (!Object.values(await filesOf(store)).includes(text)) found.wrong.push(`${path}: ${text}`)
  }
  return found
}

async function textAt(store: StorageAdapter, path: string): Promise<string | undefined> {
  const stat = await store.stat(at(path)).catch(() => undefined) // nothing, or a file above
  return stat?.type === 'file' ? new TextDecoder().decode((await store.read(at(path))).bytes) : undefined
}
