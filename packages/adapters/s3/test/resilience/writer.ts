import { isWorkspaceError, type ErrorCode, paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { seededRandom } from '@ws/test-fixtures/s3'

import { idOfContent, makeContent, stateOfContent, streamContent } from './content.ts'
import { absent, KnownFiles, type FileState, type KnownFile } from './known-files.ts'

export interface WriterOptions {
  /** The one under test. */
  readonly adapter: StorageAdapter
  /** Sees the store as it is. */
  readonly direct: StorageAdapter
  /** The writer's own directory, which exists and is empty. */
  readonly directory: string
  readonly seed: number
  /** Bytes of the largest contents, which go up in parts; absent: there are none. */
  readonly largeBytes?: number
  /** Milliseconds that an operation may take. */
  readonly deadline: number
}

/** How an operation ended: done as expected, refused as expected, or failed with unknown effect. */
export type Outcome = 'done' | 'refused' | 'unknown'

type Operation =
  | 'write'
  | 'stream'
  | 'create'
  | 'replace'
  | 'replace stale'
  | 'read'
  | 'read stream'
  | 'read range'
  | 'stat'
  | 'list'
  | 'delete'
  | 'delete version'
  | 'copy'
  | 'move'

/** How often an operation is drawn. */
const weights: Record<Operation, number> = {
  write: 20,
  stream: 2,
  create: 12,
  replace: 16,
  'replace stale': 6,
  read: 16,
  'read stream': 6,
  'read range': 5,
  stat: 6,
  list: 5,
  delete: 5,
  'delete version': 4,
  copy: 5,
  move: 6,
}

const passing: readonly ErrorCode[] = ['EIO', 'ETIMEDOUT']

/** Content ids are never used twice in a process. */
let lastId = 0

/** Does operations by chance, one after the other, and checks each against what it knows. */
export class Writer {
  readonly #options: WriterOptions
  readonly #random: () => number
  readonly #files = new KnownFiles()
  readonly #paths: readonly string[]

  constructor(options: WriterOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed)
    this.#paths = ['a', 'b', 'ü +%', 'deep/c', 'deep/d'].map((name) => `${options.directory}/${name}`)
  }

  /** The files that must be in the store. */
  get files(): KnownFiles {
    return this.#files
  }

  get paths(): readonly string[] {
    return this.#paths
  }

  /** One operation. Rejects when something is not as it must be. */
  async step(): Promise<{ readonly operation: Operation; readonly outcome: Outcome }> {
    const operation = this.#draw()
    const path = this.#pick(this.#paths)
    const { deadline } = this.#options
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${operation} of ${path} took more than ${deadline} ms`)), deadline)
    })
    try {
      return { operation, outcome: await Promise.race([this.#run(operation, path), late]) }
    } finally {
      clearTimeout(timer)
    }
  }

  #run(operation: Operation, path: string): Promise<Outcome> {
    const known = this.#files.get(path)
    const { version } = known
    switch (operation) {
      case 'write':
      case 'stream':
        return this.#write(path, undefined, operation === 'stream')
      case 'create':
        return this.#write(path, 'absent', false, known.state === 'absent' ? undefined : 'ECONFLICT')
      case 'replace':
        return version === undefined ? this.#write(path, undefined, false) : this.#write(path, version, false)
      case 'replace stale': {
        const stale = this.#files.staleVersion(path)
        return stale === undefined ? this.#write(path, undefined, false) : this.#write(path, stale, false, 'ECONFLICT')
      }
      case 'read':
      case 'read stream':
      case 'read range':
        return this.#read(operation, path, known)
      case 'stat':
        return this.#stat(path, known)
      case 'list':
        return this.#list()
      case 'delete':
        return this.#delete(path, known, {})
      case 'delete version':
        return this.#delete(path, known, version === undefined ? {} : { ifVersion: version })
      case 'copy':
      case 'move':
        return this.#transfer(operation, path, this.#pick(this.#paths.filter((other) => other !== path)))
    }
  }

  async #write(path: string, ifVersion: string | undefined, large: boolean, refusal?: ErrorCode): Promise<Outcome> {
    const { adapter, largeBytes = 200_000 } = this.#options
    const id = (lastId += 1)
    const content = makeContent(id, large ? largeBytes : Math.floor(this.#random() ** 4 * 100_000))
    const data = large ? streamContent(content, this.#random) : content
    const options = { parents: true, ...(ifVersion === undefined ? {} : { ifVersion }) }
    const write = async () => {
      const { version, size } = await adapter.write(paths.parseMount(path), data, options)
      same(size, content.length, `size of ${path}`)
      this.#files.set(path, { state: id, size, version })
    }
    return this.#expect(`write ${path} if ${ifVersion ?? 'anything'}`, write, { refusal, after: { [path]: id } })
  }

  #read(how: 'read' | 'read stream' | 'read range', path: string, known: KnownFile): Promise<Outcome> {
    const { adapter } = this.#options
    const read = async () => {
      if (how === 'read range') {
        const offset = Math.floor(this.#random() * known.size)
        const length = Math.floor(this.#random() * known.size)
        const { bytes, stat } = await adapter.read(paths.parseMount(path), { range: { offset, length } })
        const whole = makeContent(Number(known.state), known.size)
        same(Buffer.from(bytes).equals(whole.subarray(offset, offset + length)), true, `range of ${path}`)
        same(stat.size, known.size, `size of ${path}`)
        return
      }
      const chunks: Uint8Array[] = []
      if (how === 'read') chunks.push((await adapter.read(paths.parseMount(path))).bytes)
      else for await (const chunk of (await adapter.readStream(paths.parseMount(path))).stream) chunks.push(chunk)
      same(idOfContent(Buffer.concat(chunks)), known.state, `content of ${path}`)
    }
    return this.#expect(`${how} ${path}`, read, { refusal: missing(known) })
  }

  #stat(path: string, known: KnownFile): Promise<Outcome> {
    const stat = async () => {
      const { type, size, version } = await this.#options.adapter.stat(paths.parseMount(path))
      same(type, 'file', `type of ${path}`)
      same(size, known.size, `size of ${path}`)
      if (known.version !== undefined) same(version, known.version, `version of ${path}`)
      this.#files.set(path, { ...known, version })
    }
    return this.#expect(`stat ${path}`, stat, { refusal: missing(known) })
  }

  #list(): Promise<Outcome> {
    const { adapter, directory } = this.#options
    const list = async () => {
      const found: string[] = []
      for await (const { path, type } of adapter.list(paths.parseMount(directory), { recursive: true })) {
        if (type === 'file') found.push(path)
      }
      const expected = this.#files.present().map(([path]) => path)
      same(found.toSorted(byText).join('\n'), expected.toSorted(byText).join('\n'), `listing of ${directory}`)
    }
    return this.#expect(`list ${directory}`, list, {})
  }

  #delete(path: string, known: KnownFile, options: { ifVersion?: string }): Promise<Outcome> {
    const remove = async () => {
      await this.#options.adapter.delete(paths.parseMount(path), options)
      this.#files.set(path, absent)
    }
    return this.#expect(`delete ${path}`, remove, { refusal: missing(known), after: { [path]: 'absent' } })
  }

  #transfer(operation: 'copy' | 'move', from: string, to: string): Promise<Outcome> {
    const source = this.#files.get(from)
    const options = { overwrite: true, parents: true }
    const transfer = async () => {
      const { version } = await this.#options.adapter[operation](paths.parseMount(from), paths.parseMount(to), options)
      this.#files.set(to, { state: source.state, size: source.size, version })
      if (operation === 'move') this.#files.set(from, absent)
    }
    const after = { [to]: source.state, [from]: operation === 'move' ? 'absent' : source.state } as const
    return this.#expect(`${operation} ${from} to ${to}`, transfer, { refusal: missing(source), after })
  }

  /**
   * Runs an operation that must succeed or, when a refusal is given, must be refused so. When it fails for the faults'
   * sake, each path must be as before or, without a refusal, as it was to be `after`.
   */
  async #expect(
    what: string,
    action: () => Promise<void>,
    {
      refusal,
      after = {},
    }: { readonly refusal?: ErrorCode | undefined; readonly after?: Readonly<Record<string, FileState>> },
  ): Promise<Outcome> {
    try {
      await action()
    } catch (error) {
      if (error instanceof Mismatch) throw error
      if (!isWorkspaceError(error)) throw new Error(`${what}: an error of no type: ${String(error)}`, { cause: error })
      if (error.code === refusal) return 'refused'
      if (!passing.includes(error.code)) throw new Error(`${what}: ${error.message}`, { cause: error })
      await this.#lookAgain(`after ${what} failed`, refusal === undefined ? after : {})
      return 'unknown'
    }
    if (refusal !== undefined) throw new Error(`${what} succeeded instead of ${refusal}`)
    return 'done'
  }

  async #lookAgain(when: string, after: Readonly<Record<string, FileState>>): Promise<void> {
    const before = Object.keys(after).map((path) => this.#files.get(path).state)
    const found: FileState[] = []
    for (const [path, state] of Object.entries(after)) {
      const possible = [this.#files.get(path).state, state]
      const now = await look(this.#options.direct, path)
      if (!possible.includes(now.state)) {
        throw new Error(`${path} holds ${now.state} instead of ${possible.join(' or ')}, ${when}`)
      }
      found.push(now.state)
      this.#files.set(path, now)
    }
    // what was moved must be somewhere
    const moved = Object.values(after).find((state) => state !== 'absent' && before.includes(state))
    if (moved !== undefined && !found.includes(moved)) throw new Error(`${moved} is lost, ${when}`)
  }

  #draw(): Operation {
    const all = Object.entries(weights) as [Operation, number][]
    let left = this.#random() * all.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [operation, weight] of all) {
      left -= weight
      if (left < 0) return operation
    }
    return 'read'
  }

  #pick(from: readonly string[]): string {
    return from[Math.floor(this.#random() * from.length)] ?? ''
  }
}

/** Reads the state of a path. Content that is not whole is an error. */
export async function look(adapter: StorageAdapter, path: string): Promise<KnownFile> {
  try {
    const { bytes, stat } = await adapter.read(paths.parseMount(path))
    return { state: stateOfContent(bytes), size: stat.size, version: stat.version }
  } catch (error) {
    if (isWorkspaceError(error) && error.code === 'ENOENT') return absent
    throw error
  }
}

const missing = ({ state }: KnownFile): ErrorCode | undefined => (state === 'absent' ? 'ENOENT' : undefined)

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

/** The adapter has given a wrong answer. */
class Mismatch extends Error {}

function same(found: unknown, expected: unknown, what: string): void {
  if (found !== expected) throw new Mismatch(`${what}: found ${String(found)} instead of ${String(expected)}`)
}
