import { isWorkspaceError, paths, type Version } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import { seededRandom } from '@ws/test-fixtures/s3'
import { appended, makeContent, stateOfContent, streamContent } from './content.ts'
import type { FileState } from './known-files.ts'
import type { Event } from './register.ts'
import { listingEvents, transfer, type KnownVersion } from './transfers.ts'

const weights = {
  write: 14,
  create: 12,
  swap: 22,
  stream: 1,
  append: 8,
  'append version': 4,
  read: 18,
  'read stream': 5,
  stat: 6,
  list: 4,
  copy: 8,
  move: 8,
  delete: 8,
  'delete version': 8,
} as const

type Operation = keyof typeof weights

/** Content ids are never used twice in a process. */
let lastId = 1_000_000_000

export interface ClientOptions {
  readonly adapter: StorageAdapter
  readonly client: number
  readonly seed: number
  readonly paths: readonly string[]
  readonly largeBytes: number
  /** Called with each operation. */
  readonly record: (path: string, event: Event) => void
}

/** A client that works on the same files as others, and knows only the files that it has seen. */
export class Client {
  readonly #options: ClientOptions
  readonly #random: () => number
  /** The latest version of each file that was seen, and its state. */
  readonly #known = new Map<string, KnownVersion>()
  /** The state of each version. */
  readonly #states: Map<Version, FileState>

  /** @param states shared by all clients: a version follows from the content */
  constructor(options: ClientOptions, states: Map<Version, FileState>) {
    this.#options = options
    this.#random = seededRandom(options.seed)
    this.#states = states
  }

  /** One operation on one file, or two. Rejects when something is wrong whatever others do. */
  async step(): Promise<void> {
    const { client, adapter, paths: known } = this.#options
    const operation = this.#draw()
    const path = this.#pick(known)
    const start = performance.now()
    const record = (at: string, event: Omit<Event, 'client' | 'operation' | 'start' | 'end'>): void =>
      this.#options.record(at, { client, operation, start, end: performance.now(), ...event })
    if (operation === 'list') {
      for (const [at, seen] of await listingEvents(adapter, known)) record(at, { outcome: 'done', seen })
      return
    }
    if (operation !== 'copy' && operation !== 'move')
      return this.#change(operation, path, (event) => record(path, event))
    const source = this.#known.get(path)
    // the same bytes have another version when they come in parts
    if (source === undefined || source.version.includes('-')) return
    const to = this.#pick(known.filter((other) => other !== path))
    const kind = this.#pick(['any', 'absent', 'version'] as const)
    const condition = kind === 'version' ? this.#known.get(to) : kind === 'absent' ? kind : undefined
    const ends = { from: { path, known: source }, to: { path: to, condition } }
    const { events, version } = await transfer(adapter, operation, ends)
    for (const [at, event] of events) record(at, event)
    for (const at of operation === 'move' || version === undefined ? [path, to] : [to]) this.#known.delete(at)
    if (version !== undefined) this.#note(to, version, source.state)
  }

  async #change(
    operation: Exclude<Operation, 'list' | 'copy' | 'move'>,
    path: string,
    record: (event: Omit<Event, 'client' | 'operation' | 'start' | 'end'>) => void,
  ): Promise<void> {
    const { adapter } = this.#options
    const known = this.#known.get(path)
    let plan: Pick<Event, 'condition' | 'value' | 'appends'> = {}
    const finish = (rest: Pick<Event, 'outcome' | 'seen'>): void => record({ ...plan, ...rest })
    try {
      const at = paths.parseMount(path)
      switch (operation) {
        case 'read':
        case 'read stream':
          return finish({ outcome: 'done', seen: await this.#read(at, operation === 'read') })
        case 'stat': {
          const seen = this.#states.get((await adapter.stat(at)).version)
          // a version whose writer has not reported it yet
          return seen === undefined ? undefined : finish({ outcome: 'done', seen })
        }
        case 'delete':
          plan = { value: 'absent' }
          await adapter.delete(at)
          return finish({ outcome: 'done' })
        case 'delete version':
          if (known === undefined) return undefined
          plan = { value: 'absent', condition: known.state }
          await adapter.delete(at, { ifVersion: known.version })
          return finish({ outcome: 'done' })
        case 'append':
        case 'append version': {
          const isSwap = operation === 'append version'
          if (isSwap && known === undefined) return undefined
          const appends = (lastId += 1)
          plan = isSwap && known !== undefined ? { appends, condition: known.state } : { appends }
          const ifVersion = isSwap ? known?.version : undefined
          const content = makeContent(appends, Math.floor(this.#random() * 2_000))
          const { version } = (await adapter.append?.(at, content, { ifVersion })) ?? {}
          if (version !== undefined && isSwap && known !== undefined)
            this.#note(path, version, appended(known.state, appends))
          return finish({ outcome: 'done' })
        }
        default: {
          const value = (lastId += 1)
          const isSwap = operation === 'swap' && known !== undefined
          const condition = isSwap ? known.state : operation === 'create' ? 'absent' : undefined
          plan = condition === undefined ? { value } : { value, condition }
          const ifVersion = isSwap ? known.version : operation === 'create' ? 'absent' : undefined
          await this.#write(at, value, operation === 'stream', ifVersion)
          return finish({ outcome: 'done' })
        }
      }
    } catch (error) {
      if (!isWorkspaceError(error)) throw error
      const looks = operation === 'read' || operation === 'read stream' || operation === 'stat'
      const { code } = error
      if (code === 'ENOENT') return finish(looks ? { outcome: 'done', seen: 'absent' } : { outcome: 'refused' })
      if (code === 'ECONFLICT') {
        this.#known.delete(path)
        // a stream that was changed while it was read says so
        return looks ? undefined : finish({ outcome: 'refused' })
      }
      if (code !== 'EIO' && code !== 'ETIMEDOUT')
        throw new Error(`${operation} of ${path}: ${error.message}`, { cause: error })
      this.#known.delete(path)
      return looks ? undefined : finish({ outcome: 'unknown' })
    }
  }

  async #read(path: MountPath, whole: boolean): Promise<FileState> {
    const { adapter } = this.#options
    const opened = whole ? undefined : await adapter.readStream(path)
    const { bytes, stat } =
      opened === undefined
        ? await adapter.read(path)
        : { bytes: Buffer.concat(await Array.fromAsync(opened.stream)), stat: opened.stat }
    const state = stateOfContent(bytes)
    this.#note(path, stat.version, state)
    return state
  }

  async #write(path: MountPath, value: number, large: boolean, ifVersion: Version | undefined): Promise<void> {
    const { adapter, largeBytes } = this.#options
    const content = makeContent(value, large ? largeBytes : Math.floor(this.#random() ** 4 * 60_000))
    const data = large ? streamContent(content, this.#random) : content
    const { version } = await adapter.write(path, data, ifVersion === undefined ? {} : { ifVersion })
    this.#note(path, version, value)
  }

  #note(path: string, version: Version, state: FileState): void {
    this.#states.set(version, state)
    this.#known.set(path, { version, state })
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)] as Item
  }

  #draw(): Operation {
    const all = Object.entries(weights) as [Operation, number][]
    let left = this.#random() * all.reduce((sum, [, weight]) => sum + weight, 0)
    return all.find(([, weight]) => (left -= weight) < 0)?.[0] ?? 'read'
  }
}
