import type { Socket } from 'node:net'

import { dial } from '../dial.ts'
import type { hostLists } from '@ws/core/executor'
import { quietly } from '@ws/core/options'
import type { RequestRule } from '../requests/types.ts'
import { type Refusal, refusals } from './refusals.ts'
import type { GateOptions } from './types.ts'

export interface Destination {
  readonly name: string
  readonly port: number
  readonly entry: hostLists.Entry
  /** Each request must match one of these rules. */
  readonly rules?: readonly RequestRule[] | undefined
  /** Both connections use TLS. */
  readonly isSecure?: boolean | undefined
}

/** The parts that all connections of a gate share: the way out, counts, reports. */
export class Passages {
  readonly #options: GateOptions
  readonly #ending = new AbortController()
  readonly #sockets = new Set<Socket>()
  readonly #outer = new Set<Socket>()
  readonly #dialling = new Set<Promise<unknown>>()
  #open = 0
  #bytes = 0

  constructor(options: GateOptions) {
    this.#options = options
  }

  get limits(): GateOptions['limits'] {
    return this.#options.limits
  }

  /** Keeps a connection from inside until the gate ends, or until the idle timeout. */
  hold(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    // otherwise a body waits until the other side confirms the head
    socket.setNoDelay(true)
    socket.setTimeout(this.limits.idleTimeout, () => socket.destroy()) // @defence a sandbox that floods or holds the gate: nothing comes
    socket.once('close', () => this.#sockets.delete(socket))
    if (this.#ending.signal.aborted) socket.destroy()
  }

  /** Counts a connection. Returns a function to call when the connection is over, or `undefined` above the limit. */
  enter(): (() => void) | undefined {
    if (this.#open >= this.limits.connections) return undefined // @defence a sandbox that floods or holds the gate: so many silent connections
    this.#open++
    let left = false
    return () => {
      if (!left) this.#open--
      left = true
    }
  }

  allowMore(): void {
    this.#bytes = 0
  }

  refuse(host: string, port: number | undefined, { outcome, rule, reason, remedy }: Refusal): void {
    const moved = { time: Date.now(), duration: 0, sentBytes: 0, receivedBytes: 0 }
    this.#tell({ host, port, outcome, rule, reason, remedy, ...moved })
  }

  /** Connects to a checked address, counts the bytes, and reports the end. */
  async out({ name, port, entry }: Destination): Promise<{ readonly socket: Socket } | { readonly refusal: Refusal }> {
    const time = Date.now()
    const start = performance.now()
    const tell = (refusal: Refusal | undefined, socket?: Socket): void =>
      this.#tell({
        host: name,
        port,
        entry: entry.text,
        outcome: 'allowed',
        ...refusal,
        time,
        duration: performance.now() - start,
        sentBytes: socket?.bytesWritten ?? 0,
        receivedBytes: socket?.bytesRead ?? 0,
      })
    const refused = (refusal: Refusal): { readonly refusal: Refusal } => {
      tell(refusal)
      return { refusal }
    }
    const { bytes = Number.POSITIVE_INFINITY, connections } = this.limits
    if (this.#bytes >= bytes) return refused(refusals.tooMuch(bytes))
    // a connection from inside can end before its connection to the host is open
    const open = [...this.#outer].filter(({ destroyed }) => !destroyed).length + this.#dialling.size
    if (open >= connections) return refused(refusals.tooMany(connections)) // @defence a sandbox that floods or holds the gate: as many connections as it takes
    // `dial` rejects only when the gate is closed meanwhile
    const dialling = dial(name, port, { ...this.#options, signal: this.#ending.signal }).catch(
      () => ({ problem: 'unreachable' }) as const,
    )
    this.#dialling.add(dialling)
    const dialled = await dialling
    this.#dialling.delete(dialling)
    if ('problem' in dialled) return refused(refusals.dial(dialled.problem))
    const { socket } = dialled
    this.#outer.add(socket)
    let cut: Refusal | undefined
    const end = (refusal: Refusal): void => {
      cut ??= refusal
      socket.destroy()
    }
    socket.allowHalfOpen = true
    this.hold(socket)
    socket.on('timeout', () => (cut ??= refusals.idle(this.limits.idleTimeout)))
    let counted = 0
    const count = (): void => {
      const moved = socket.bytesRead + socket.bytesWritten
      this.#bytes += moved - counted
      counted = moved
      if (this.#bytes > bytes) end(refusals.tooMuch(bytes)) // @defence a sandbox that floods or holds the gate: more bytes
    }
    // sent bytes are counted when answers arrive, and at intervals
    socket.on('data', count)
    const timer = setInterval(count, countEvery).unref()
    socket.once('close', () => {
      clearInterval(timer)
      this.#outer.delete(socket)
      count()
      tell(cut, socket)
    })
    return { socket }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#dialling)
    const closed = [...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }

  #tell(report: Parameters<GateOptions['onReport']>[0]): void {
    quietly(this.#options.onReport)({ ...report, host: printable(report.host) })
  }
}

const countEvery = 50

/** Cleans a host for messages and records: a remote name can contain anything. */
function printable(host: string): string {
  return host.replace(/[^\w.:*[\]-]/gu, '?').slice(0, 253)
}

export function join(inner: Socket, outer: Socket): void {
  inner.pipe(outer)
  outer.pipe(inner)
  inner.once('close', () => outer.destroy())
  outer.once('close', () => inner.destroySoon())
}
