import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'

import type { Connections, WorkspaceError } from '@ws/core'

import { problems } from '../errors.ts'

/** A user and a password for Tor's SOCKS port. */
export interface TorIdentity {
  readonly user: string
  readonly password: string
}

/** Bytes on top of the content: encryption and headers. */
const overhead = 2 * 1024 * 1024

const token = (): string => randomBytes(16).toString('hex')

export const newIdentity = (): TorIdentity => ({ user: token(), password: token() })

export interface TransferOptions {
  /** Bytes of the content at most. The connection may carry 2 MiB more, for encryption and headers. */
  readonly maxBytes: number
  /** Goes through Tor. */
  readonly identity?: TorIdentity | undefined
  /** Judges each host. Default: every public host, at ports of web servers. */
  readonly connections?: Connections | undefined
}

/** One request of a client through the proxy, known by its password there. */
export class Transfer {
  readonly password = token()
  readonly identity: TorIdentity | undefined
  readonly connections: Connections | undefined
  readonly signal: AbortSignal
  /** Why the proxy ended it. */
  problem: WorkspaceError | undefined
  /** Bytes that came from outside. */
  bytes = 0
  readonly #maxBytes: number
  readonly #sockets = new Set<Socket>()
  readonly #ending = new AbortController()

  constructor({ maxBytes, identity, connections }: TransferOptions) {
    this.#maxBytes = maxBytes
    this.identity = identity
    this.connections = connections
    this.signal = this.#ending.signal
  }

  /** Ends with the transfer. */
  hold(socket: Socket): void {
    if (this.signal.aborted) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  count(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.#maxBytes + overhead) this.fail(problems.tooLarge(this.#maxBytes))
  }

  fail(problem: WorkspaceError): void {
    this.problem ??= problem
    this.end()
  }

  end(): void {
    this.#ending.abort()
    for (const socket of this.#sockets) socket.destroy()
  }
}
