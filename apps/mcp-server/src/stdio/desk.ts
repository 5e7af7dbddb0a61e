import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'

import { MessageError } from '../messages/errors.ts'
import { isListen } from '../server/subscriptions.ts'

export interface DeskLimits {
  readonly maxCalls: number
  readonly maxStreams: number
  readonly maxBodyBytes: number
}

interface DeskHooks {
  readonly deliver: (message: JSONRPCMessage) => void
  /** Watches files for a stream until the returned function is called. */
  readonly listen: (message: JSONRPCMessage) => Promise<() => void>
}

interface Call {
  readonly message: JSONRPCMessage
  /** 1 for a call, 0 for a `ping`, with which a client tests the server. */
  readonly weight: number
  readonly held: number
}

/** Limit of waiting calls. A client on a pipe does not retry a refused call, unlike an HTTP client after 503. */
const maxWaiting = 256

/** Limits simultaneous requests of one connection. Notifications are not limited, because a notification may cancel a request. */
export class Desk {
  readonly #limits: DeskLimits
  readonly #hooks: DeskHooks
  readonly #running = new Map<RequestId, Call>()
  readonly #waiting = new Map<RequestId, Call>()
  readonly #streams = new Map<RequestId, () => void>()
  /** The ids of the server's own requests that the client has not answered. */
  readonly #asked = new Set<RequestId>()
  #weight = 0
  #held = 0

  constructor(limits: DeskLimits, hooks: DeskHooks) {
    this.#limits = limits
    this.#hooks = hooks
  }

  /**
   * Delivers a message now, or a call when its turn comes. @param held bytes of the message's memory
   * @throws MessageError 503 beyond the limits, 413 for an id in use
   */
  async take(message: JSONRPCMessage, held: number): Promise<void> {
    if (!('method' in message)) {
      if (message.id !== undefined && this.#asked.delete(message.id)) this.#hooks.deliver(message) // @defence ` && this.#asked.delete(message.id)` a client that answers a question
      return
    }
    if (!('id' in message)) return this.#notify(message)
    const { id } = message
    if (this.#running.has(id) || this.#waiting.has(id) || this.#streams.has(id)) {
      throw new MessageError(413, 'the id is that of a request which is not answered yet')
    }
    if (isListen(message)) return this.#open(id, message)
    if (this.#held + held > this.#limits.maxBodyBytes) {
      throw new MessageError(503, 'the server is busy: the messages that are being answered take too much memory')
    }
    if (this.#waiting.size >= maxWaiting) throw new MessageError(503, 'the server is busy: too many calls are waiting')
    const weight = message.method === 'ping' ? 0 : 1
    this.#held += held
    this.#waiting.set(id, { message, weight, held })
    if (weight === 0) this.#start(id)
    else this.#startNext()
  }

  /** Records a request of the server: only its answer is delivered. */
  asked(id: RequestId): void {
    this.#asked.add(id)
  }

  /** Records that the client has read the answer to a request. */
  answered(id: RequestId): void {
    this.#streams.get(id)?.()
    this.#streams.delete(id)
    this.#forget(id)
  }

  clear(): void {
    for (const stop of this.#streams.values()) stop()
    this.#streams.clear()
    this.#waiting.clear()
    this.#asked.clear()
  }

  #notify(message: JSONRPCMessage): void {
    const { method, params } = message as {
      readonly method: string
      readonly params?: { readonly requestId?: unknown }
    }
    const cancelled = method === 'notifications/cancelled' ? (params?.requestId as RequestId | undefined) : undefined
    const isWaiting = cancelled !== undefined && this.#waiting.has(cancelled)
    if (!isWaiting) this.#hooks.deliver(message)
    // a cancelled request gets no answer
    if (cancelled !== undefined) this.answered(cancelled)
  }

  async #open(id: RequestId, message: JSONRPCMessage): Promise<void> {
    if (this.#streams.size >= this.#limits.maxStreams) {
      throw new MessageError(503, 'the server is busy: too many streams are open')
    }
    this.#streams.set(id, await this.#hooks.listen(message))
    this.#hooks.deliver(message)
  }

  #startNext(): void {
    for (const [id, { weight }] of this.#waiting) {
      if (this.#weight + weight > this.#limits.maxCalls) return
      this.#start(id)
    }
  }

  #start(id: RequestId): void {
    const call = this.#waiting.get(id)
    if (call === undefined) return
    this.#waiting.delete(id)
    this.#running.set(id, call)
    this.#weight += call.weight
    this.#hooks.deliver(call.message)
  }

  #forget(id: RequestId): void {
    const running = this.#running.get(id)
    const call = running ?? this.#waiting.get(id)
    if (call === undefined) return
    this.#running.delete(id)
    this.#waiting.delete(id)
    this.#held -= call.held
    if (running !== undefined) this.#weight -= call.weight
    this.#startNext()
  }
}
