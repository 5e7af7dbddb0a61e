import { setImmediate } from 'node:timers/promises'

import type { CommandRun } from '@ws/sandbox'

import { type AttendantCommand, FollowedCommand } from './command.ts'
import { type AttendantOrder, encodeFrame, encodeOrder, FrameReader, longestOrder, type OrderLetter } from './frames.ts'
import { afterGreeting, type AttendantStream, fromLines, toLines } from './stream.ts'

export type { AttendantCommand } from './command.ts'
export type { AttendantOrder } from './frames.ts'
export type { AttendantStream } from './stream.ts'

export interface AttendantOptions {
  /** True: the stream is lines of base64, as the attendant was started. Default false. */
  readonly isText?: boolean | undefined
  /** Returns whether commands may go on when the attendant is lost. Default: they may. */
  readonly survivors?: (() => Promise<boolean>) | undefined
}

/** The host's side of an attendant: runs many commands at once over one stream. It is not trusted: a wrong frame loses it. */
export class Attendant {
  readonly #stream: AttendantStream
  readonly #options: AttendantOptions
  readonly #commands = new Map<number, FollowedCommand>()
  readonly #greeted = Promise.withResolvers<void>()
  readonly #lost = Promise.withResolvers<void>()
  #isLost = false
  #lastId = 0
  #queue: Buffer[] = []
  #isWriting = false
  /** Called with the table of mounts when it has changed. */
  onMounts: ((table: string) => void) | undefined

  constructor(stream: AttendantStream, options: AttendantOptions = {}) {
    this.#stream = stream
    this.#options = options
    this.#greeted.promise.catch(() => undefined) // a caller may look at the end alone
    void this.#read()
  }

  /** Resolves when the attendant answers. Rejects if it ends before: the machine has no perl, or cannot run it. */
  get greeted(): Promise<void> {
    return this.#greeted.promise
  }

  /** Resolves when the attendant is lost, or closed. */
  get lost(): Promise<void> {
    return this.#lost.promise
  }

  get isLost(): boolean {
    return this.#isLost
  }

  get commands(): number {
    return this.#commands.size
  }

  /** Starts a command, without waiting. Input that is written at once travels with the order. */
  start(order: AttendantOrder, listeners: Pick<CommandRun, 'onStdout' | 'onStderr'>): AttendantCommand {
    const id = ++this.#lastId
    const onGone = () => {
      if (this.#commands.delete(id) && this.#commands.size === 0) this.#stream.hold?.(false)
    }
    const send = (letter: OrderLetter, to: number, rest?: Uint8Array) => this.#send(letter, to, rest)
    const command = new FollowedCommand(id, order, listeners, { send, onGone })
    if (this.#commands.size === 0) this.#stream.hold?.(true)
    this.#commands.set(id, command)
    if (this.#isLost) this.#loseOne(command)
    else {
      const bytes = encodeOrder(order)
      // an attendant ends at a longer frame, and every command with it
      if (bytes.length > longestOrder) command.take({ letter: 'f', id, rest: Buffer.from([6, 0, 0, 0, 7]) })
      else this.#send('s', id, bytes)
    }
    return command
  }

  /** Ends the attendant and all its commands. */
  close(): void {
    this.#stream.end()
    this.#lose()
  }

  #send(letter: OrderLetter, id: number, rest?: Uint8Array): void {
    if (this.#isLost || !this.#commands.has(id)) return
    this.#queue.push(encodeFrame(letter, id, rest))
    if (this.#queue.length === 1 && !this.#isWriting) void this.#flush()
  }

  /** Writes what was sent meanwhile together: an order and its input are one write. Never rejects. */
  async #flush(): Promise<void> {
    this.#isWriting = true
    await setImmediate()
    try {
      while (this.#queue.length > 0 && !this.#isLost) {
        const bytes = Buffer.concat(this.#queue.splice(0))
        await this.#stream.write(this.#options.isText === true ? toLines(bytes) : bytes)
      }
    } catch {
      this.#lose() // commands report the loss
    }
    this.#isWriting = false
  }

  /** Reads to the end, and then loses the attendant. Never rejects. */
  async #read(): Promise<void> {
    const reader = new FrameReader()
    try {
      const bytes = afterGreeting(this.#stream.output, this.#greeted.resolve)
      for await (const chunk of this.#options.isText === true ? fromLines(bytes) : bytes)
        for (const frame of reader.read(chunk)) {
          if (frame.id > this.#lastId) throw new Error('a command that was not started')
          if (frame.letter === 'm') this.onMounts?.(frame.rest.toString('latin1'))
          else this.#commands.get(frame.id)?.take(frame)
        }
    } catch {
      // the same as its end: commands report the loss
    }
    this.#stream.end()
    this.#lose()
  }

  #lose(): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#queue = []
    this.#greeted.reject(new Error('the attendant did not answer'))
    for (const command of [...this.#commands.values()]) this.#loseOne(command)
    this.#lost.resolve()
  }

  #loseOne(command: FollowedCommand): void {
    const { survivors = async () => true } = this.#options
    command.lose(survivors().catch(() => true)) // without an answer, processes may remain
  }
}
