import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'

import type { Connections, WorkspaceError } from '@ws/core'

import { problems } from '../errors.ts'

export interface TorIdentity {
  readonly user: string
  readonly password: string
}

const overhead = 2 * 1024 * 1024

const token = (): string => randomBytes(16).toString('hex')

export const newIdentity = (): TorIdentity => ({ user: token(), password: token() })

export interface TransferOptions {
  /** Bytes of the content. The connection may carry 2 MiB more. */
  readonly maxBytes: number
  readonly identity?: TorIdentity | undefined
  readonly connections?: Connections | undefined
}

export class Transfer {
  readonly password = token()
  readonly identity: TorIdentity | undefined
  readonly connections: Connections | undefined
  readonly signal: AbortSignal
  problem: WorkspaceError | undefined
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
