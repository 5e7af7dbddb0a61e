import { parseJSONRPCMessage, type JSONRPCMessage, type RequestId, type Transport } from '@modelcontextprotocol/server'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Readable, Writable } from 'node:stream'

import { checkMessage } from '../messages/check.ts'
import { drained } from '../messages/drained.ts'
import { codeOf, MessageError } from '../messages/errors.ts'
import { Incoming } from '../messages/incoming.ts'
import { pace } from '../messages/pace.ts'
import { Desk, type DeskLimits } from './desk.ts'

export interface LineTransportOptions {
  readonly input: Readable
  readonly output: Writable
  readonly limits: DeskLimits & { readonly maxMessageBytes: number }
  /** Watches files for a stream until the returned function is called. */
  readonly listen: (message: JSONRPCMessage) => Promise<() => void>
}

/** Limit of unread bytes of notifications, which must not be dropped. */
const maxUnread = 1024 * 1024
/** Limit of messages that are delivered before other work gets a turn. */
const messagesInTurn = 32
const newline = 10

/** A transport with one message per line. Reads only while the client reads answers. Messages beyond the limits get an error. */
export class LineTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onerror?: (error: Error) => void
  onclose?: () => void
  readonly #options: LineTransportOptions
  readonly #desk: Desk
  #line: Incoming
  #delivered = 0
  #unread = 0
  #isClosed = false

  constructor(options: LineTransportOptions) {
    this.#options = options
    const { limits, listen } = options
    this.#desk = new Desk(limits, { deliver: (message) => this.onmessage?.(message), listen })
    this.#line = this.#emptyLine()
  }

  async start(): Promise<void> {
    const { input, output } = this.#options
    output.on('error', this.#fail)
    if (input.readableEnded || input.destroyed) return void setImmediate(this.#end)
    input.on('error', this.#fail).on('end', this.#end).on('close', this.#end).on('data', this.#take)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const { input } = this.#options
    input.off('end', this.#end).off('close', this.#end).off('data', this.#take)
    // a paused pipe keeps no process alive; later errors of both ends have no effect
    if (input.listenerCount('data') === 0) input.pause()
    this.#line = this.#emptyLine()
    this.#desk.clear()
    this.onclose?.()
  }

  /** Resolves when the client has read the message. Disconnects a client that leaves 1 MiB of notifications unread. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('the connection is closed')
    const id = 'method' in message ? undefined : message.id
    if ('method' in message && 'id' in message) this.#desk.asked(message.id)
    const line = `${JSON.stringify(message)}\n`
    if (id === undefined) this.#unread += line.length
    if (this.#unread > maxUnread) return this.#fail(new Error('the client does not read its notices'))
    try {
      await this.#write(line)
    } finally {
      if (id === undefined) this.#unread -= line.length
      // report the answer after the write, since an unread answer stays in memory
      else this.#desk.answered(id)
    }
  }

  #write(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#options.output.write(line, (error) => (error ? reject(error) : resolve()))
    })
  }

  readonly #end = (): void => void this.close().catch((error: Error) => this.onerror?.(error))

  readonly #fail = (error: Error): void => {
    if (this.#isClosed) return
    this.onerror?.(error)
    this.#end()
  }

  readonly #take = (chunk: Buffer): void => {
    const { input } = this.#options
    input.pause()
    this.#lines(chunk).then(
      () => {
        if (!this.#isClosed) input.resume()
      },
      (error: unknown) => this.#fail(error instanceof Error ? error : new Error(String(error))),
    )
  }

  async #lines(chunk: Buffer): Promise<void> {
    for (let start = 0; start < chunk.length && !this.#isClosed; ) {
      const end = chunk.indexOf(newline, start)
      const bytes = chunk.subarray(start, end === -1 ? chunk.length : end)
      await pace.run(() => this.#line.add(bytes))
      if (end === -1 || this.#isClosed) return
      start = end + 1
      const line = this.#line
      this.#line = this.#emptyLine()
      // refuse a line only at its end, since the id may be at the end
      if (line.refusal === undefined) await this.#deliver(line)
      else this.#refuse(line.id, line.refusal)
      await this.#untilTaken()
    }
  }

  async #deliver(line: Incoming): Promise<void> {
    if (line.size === 0) return
    let given: unknown
    try {
      given = await line.parse()
      await pace.run(() => checkMessage(given))
      await this.#desk.take(messageOf(given), line.held)
    } catch (error) {
      this.#refuse(idOf(given), error)
    }
  }

  #refuse(id: RequestId | null, error: unknown): void {
    if (!(error instanceof MessageError)) throw error
    const code = codeOf(error.status)
    const answer = { jsonrpc: '2.0', id, error: { code, message: error.message } }
    // a failing output emits an event, which ends the connection
    this.#write(`${JSON.stringify(answer)}\n`).catch(() => undefined)
  }

  /** Gives other work a turn, and waits until the client has read everything. */
  async #untilTaken(): Promise<void> {
    const { output } = this.#options
    this.#delivered += 1
    if (this.#delivered % messagesInTurn === 0) await nextTurn()
    while (!this.#isClosed && output.writableNeedDrain) await drained(output)
  }

  #emptyLine(): Incoming {
    return new Incoming({ most: this.#options.limits.maxMessageBytes })
  }
}

/** The id of a message; `null` for a notification, whose refusal has no id. */
function idOf(given: unknown): RequestId | null {
  const { id } = (typeof given === 'object' && given !== null ? given : {}) as { readonly id?: unknown }
  return typeof id === 'string' || Number.isInteger(id) ? (id as RequestId) : null
}

function messageOf(given: unknown): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(given)
  } catch {
    throw new MessageError(413, 'the message is not one of JSON-RPC')
  }
}
