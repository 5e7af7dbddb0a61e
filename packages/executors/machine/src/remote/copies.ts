import type { FileDoor, VirtualPath, WorkspaceEntry } from '@ws/core'
import { execError } from '@ws/core/executor'

import type { Machine } from '../contract.ts'
import { Apply } from './apply.ts'
import type { Base, Refusal } from './base.ts'
import { type Extra, type Parts, putBundle } from './bundle.ts'
import { Call, type Changes, lost, refusal } from './call.ts'
import { digestOf, failure, joinRecords, keyOf, readRecords, removalsOf, textOf } from './listing.ts'
import { type Packed, packUploads, type Upload } from './pack.ts'
import { renewState } from './renew.ts'
import { type Bundle, openScript, type Order } from './script.ts'
import { textFrom } from './text-from.ts'
import type { Content } from './unpack.ts'

export interface CopiesOptions {
  readonly machine: Machine
  readonly files: FileDoor
  readonly root: VirtualPath
  readonly isText: boolean
}

/** Changes of the workspace that are on their way to the machine. */
export interface Sending {
  readonly order: Omit<Order, 'marker' | 'command'>
  readonly packed: ReadonlyMap<string, Packed>
  readonly removed: ReadonlySet<string>
}

/** How often changes are fetched that do not arrive whole, since a process changes them meanwhile. */
const fetches = 3

/** Keeps a copy of a workspace on a machine. Copies in one direction at a time. */
export class Copies {
  readonly #options: CopiesOptions
  readonly #base: Base = new Map()
  #place: { readonly inode: string; readonly state: string } | undefined
  /** True if the machine may have changes that this side does not know. */
  #mustFetch = false
  #turn: Promise<unknown> = Promise.resolve()
  #bundles = 0
  /** Changes of which it is unknown whether the machine took them in. */
  #pending: Sending | undefined
  /** Refusals that no result has yet. */
  readonly #refusals: Refusal[] = []
  /** Counts exchanges. */
  epoch = 0

  constructor(options: CopiesOptions) {
    this.#options = options
  }

  /** Waits until no other exchange runs. Returns a function that lets the next one begin. */
  async lock(signal?: AbortSignal): Promise<() => void> {
    const before = this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = promise
    const stop = Promise.withResolvers<never>()
    const onAbort = () => stop.reject(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      signal?.throwIfAborted()
      await Promise.race([before, stop.promise])
      return resolve
    } catch (error) {
      void before.then(() => resolve())
      throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Makes the root on the machine, which must be empty. */
  async open(): Promise<void> {
    const { machine, root } = this.#options
    const answer = await textFrom(machine, ['sh', '-c', openScript(root)])
    if (answer.startsWith('full')) {
      throw execError('ENOTEMPTY', 'is not empty on the machine', {
        path: root,
        remedy: 'start a new machine, or copy what you need from the directory and empty it',
      })
    }
    const { inode, state } = /^open (?<inode>\d+) (?<state>\/[\w./-]+)$/mu.exec(answer)?.groups ?? {}
    if (inode === undefined || state === undefined) throw failure(`cannot make the directory \`${root}\``)
    this.#place = { inode, state }
    this.#base.clear()
    this.#mustFetch = false
  }

  /** Forgets the machine's directory, which is gone. The next command brings all files again. */
  forget(): void {
    this.#place = undefined
  }

  expectChanges(): void {
    this.#mustFetch = true
  }

  /** Notes that the machine may take changes in. */
  send(sending: Sending): void {
    this.#mustFetch = true
    if (sending.order.bundle !== undefined) this.#pending = sending
  }

  /** Brings the workspace's changes near the machine's root. The next program there takes them in. */
  async bring(signal: AbortSignal | undefined, more: Extra = {}): Promise<Sending> {
    if (this.#place === undefined) await this.open()
    if (this.#mustFetch) this.#refusals.push(...(await this.fetch(signal)))
    const { files } = this.#options
    const { uploads, wanted } = await this.#plan(signal)
    const packed = new Map<string, Packed>()
    let removed = new Set<string>()
    const archive = packUploads(uploads, { files, signal, packed })
    const gone = () => {
      // the policy forbids to read what was not packed
      for (const { name } of uploads) if (!packed.has(keyOf(name))) wanted.delete(keyOf(name))
      removed = new Set([...this.#base.keys()].filter((key) => !wanted.has(key) && textOf(key) !== undefined))
      return removalsOf([...removed])
    }
    const bundle = await this.#put({ archive, gone, ...more }, signal).catch((error: unknown) => {
      this.#mustFetch = true // which looks for the directory of this package
      throw error
    })
    return { order: this.#order({ bundle, digest: digestOf(this.#known()) }), packed, removed }
  }

  /** Notes the changes that the machine took in. @param isStale whether it has others */
  took({ order, packed, removed }: Sending, { gone, fresh }: Changes, isStale: boolean): void {
    this.#mustFetch = isStale
    this.#pending = undefined
    // another command can have changed entries meanwhile, which came from the machine
    for (const { key, record } of gone) {
      if (removed.has(key) && this.#base.get(key)?.record === record) this.#base.delete(key)
      else if (!packed.has(key)) this.#mustFetch = true
    }
    const changed = new Map(fresh.map((seen) => [seen.key, seen]))
    if (fresh.some(({ key }) => !packed.has(key))) this.#mustFetch = true
    for (const [key, { facts, ...agreed }] of packed) {
      const seen = changed.get(key)
      const isOurs = seen === undefined || (facts === undefined ? seen.type !== 'file' : seen.facts === facts)
      const record = seen?.record ?? this.#base.get(key)?.record
      if (!isOurs) this.#mustFetch = true
      else if (record !== undefined) this.#base.set(key, { record, ...agreed })
    }
    if (order.bundle !== undefined) this.epoch += 1
  }

  /**
   * Writes changes into the workspace. Returns `undefined` if some have not arrived whole.
   * @param ours keys of entries that are there from this side, whole or not
   */
  async take(
    changes: Changes,
    contents: AsyncIterable<Content>,
    ours: ReadonlyMap<string, unknown> = new Map(),
  ): Promise<readonly Refusal[] | undefined> {
    const { files, root } = this.#options
    this.epoch += 1
    const mustFetch = this.#mustFetch
    this.#mustFetch = true
    const apply = new Apply({ files, root, base: this.#base })
    const isWhole = await apply.take(changes, contents, ours)
    this.#mustFetch = mustFetch || !isWhole
    this.#refusals.push(...apply.refusals)
    return isWhole ? this.#refusals.splice(0) : undefined
  }

  /** Brings every change of the machine that this side does not know. */
  async fetch(signal?: AbortSignal): Promise<readonly Refusal[]> {
    const { machine } = this.#options
    for (let attempt = 1; attempt <= fetches; attempt += 1) {
      let call: Call | undefined
      try {
        const bundle = await this.#put({ known: this.#known() }, signal)
        call = await Call.start(machine, this.#order({ bundle, pending: this.#pending?.order.bundle?.path }), {})
        const [word = '', ...rest] = (await call.message()) ?? []
        if (word === 'moved') this.forget()
        if (word !== 'end') throw refusal([word, ...rest])
        const { changes, contents } = await call.ended([word, ...rest])
        // a part of a bundle is on the machine, and no command has run on it
        const ours = rest.at(-1) === '1' ? this.#pending?.packed : undefined
        const refusals = await this.take(changes, contents, ours)
        this.#pending = undefined
        this.#mustFetch = refusals === undefined
        if (refusals !== undefined) return refusals
      } catch (error) {
        const state = this.#place && attempt < fetches && (await renewState(machine, this.#place.state))
        if (!this.#place || !state) throw error
        this.#place = { ...this.#place, state }
      } finally {
        await call?.kill()
      }
    }
    throw failure('changes files faster than they can be fetched')
  }

  async close(): Promise<void> {
    const state = this.#place?.state
    if (state === undefined) return
    await textFrom(this.#options.machine, ['rm', '-rf', '--', state]).catch(() => undefined) // the machine may be gone
  }

  #known(): Buffer {
    return joinRecords([...this.#base.values()].map(({ record }) => record))
  }

  #put(parts: Parts, signal: AbortSignal | undefined): Promise<Bundle | undefined> {
    const path = `${this.#order({}).state}/b-${++this.#bundles}`
    return putBundle(this.#options.machine, parts, { path, signal })
  }

  #order(more: Pick<Order, 'bundle' | 'digest' | 'pending'>): Omit<Order, 'marker' | 'command'> {
    const { root, isText } = this.#options
    if (this.#place === undefined) throw lost()
    return { root, isText, ...this.#place, ...more }
  }

  async #plan(signal: AbortSignal | undefined) {
    const { files, root } = this.#options
    const uploads: Upload[] = []
    const wanted = new Set<string>()
    const closed = [...this.#base.values()].filter(({ record }) => record.startsWith('x '))
    const places = readRecords(joinRecords(closed.map(({ record }) => record))).map(({ key }) => `${key}/`)
    for await (const entry of files.list(root, { recursive: true, details: true, signal })) {
      const { path, type, version, mode, modifiedAt } = entry
      if (entry.unreachable || type === 'other') continue
      const name = path.slice(root.length + 1)
      const key = keyOf(name)
      wanted.add(key)
      if (places.some((place) => key.startsWith(place)) || this.#isSame(key, entry)) continue
      uploads.push({ path, name, type, mode, version, modifiedAt, bits: mode ?? this.#modeOf(key, type) })
    }
    return { uploads, wanted }
  }

  #isSame(key: string, { type, version, mode }: WorkspaceEntry): boolean {
    const known = this.#base.get(key)
    if (known === undefined) return false
    const isMode = known.mode === undefined || mode === undefined || known.mode === mode
    if (type === 'directory') return isMode && /^[dx] /u.test(known.record)
    return isMode && known.version !== undefined && known.version === version
  }

  /** The mode on the machine, where the workspace keeps none. */
  #modeOf(key: string, type: Upload['type']): number {
    const [, kind, mode] = /^(?<kind>[fd]) (?<mode>\d+) /u.exec(this.#base.get(key)?.record ?? '') ?? []
    if (mode !== undefined && kind === type.slice(0, 1)) return Number.parseInt(mode, 8) & 0o777
    return type === 'directory' ? 0o755 : 0o644
  }
}
