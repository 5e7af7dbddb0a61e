import { constants } from 'node:os'
import { Writable } from 'node:stream'

import { execError, type KillSignal } from '@ws/core/executor'
import type { CommandEnd, CommandPort, CommandRun } from '@ws/sandbox'

import { type AttendantOrder, credit, encodeSize, type Frame, type OrderLetter, piece, steps } from './frames.ts'

export type Send = (letter: OrderLetter, id: number, rest?: Uint8Array) => void

export interface AttendantCommand extends CommandPort {
  /** For `after` of a later order. */
  readonly id: number
  /** Resolves when the command runs. Rejects with the same `WorkspaceError` as `exited` if it never runs. */
  readonly begun: Promise<void>
  readonly exited: Promise<CommandEnd>
  readonly gone: Promise<{ readonly survivors: boolean }>
}

const names = Object.entries(constants.signals)

/** Follows one command by its frames. */
export class FollowedCommand implements AttendantCommand {
  readonly id: number
  readonly stdin: Writable | undefined
  readonly #send: Send
  readonly #onGone: () => void
  readonly #begun = Promise.withResolvers<void>()
  readonly #exited = Promise.withResolvers<CommandEnd>()
  readonly #gone = Promise.withResolvers<{ readonly survivors: boolean }>()
  readonly #streams: Readonly<Record<'1' | '2', OutputStream>>
  #isExited = false
  #room = credit
  #onRoom: (() => void) | undefined

  constructor(
    id: number,
    order: AttendantOrder,
    { onStdout, onStderr }: Pick<CommandRun, 'onStdout' | 'onStderr'>,
    { send, onGone }: { readonly send: Send; readonly onGone: () => void },
  ) {
    this.id = id
    this.#send = send
    this.#onGone = onGone
    const grant = (stream: number) => (bytes: number) => {
      const rest = Buffer.alloc(5)
      rest.writeUInt8(stream)
      rest.writeUInt32BE(bytes, 1)
      send('g', id, rest)
    }
    this.#streams = { 1: new OutputStream(onStdout, grant(1)), 2: new OutputStream(onStderr, grant(2)) }
    for (const { promise } of [this.#begun, this.#exited]) promise.catch(() => undefined) // the caller reads one of both
    if (order.hasInput === true || order.terminal !== undefined)
      this.stdin = new Writable({
        write: (chunk: Buffer, _encoding, done) => void this.#write(chunk, done),
        final(done) {
          send('c', id)
          done()
        },
      }).on('error', () => undefined) // a command may end, or close its input, before it has read all
  }

  get begun(): Promise<void> {
    return this.#begun.promise
  }

  get exited(): Promise<CommandEnd> {
    return this.#exited.promise
  }

  get gone(): Promise<{ readonly survivors: boolean }> {
    return this.#gone.promise
  }

  signal(name: KillSignal, whom: 'command' | 'everyone'): boolean {
    if (this.#isExited && whom === 'command') return false
    this.#send('k', this.id, Uint8Array.of(constants.signals[name], whom === 'everyone' ? 1 : 0))
    return true
  }

  resize(columns: number, rows: number): boolean {
    if (this.#isExited) return false
    this.#send('z', this.id, encodeSize({ columns, rows }))
    return true
  }

  end(): void {
    this.#send('x', this.id)
  }

  /** @throws for a frame that no attendant sends */
  take({ letter, rest }: Frame): void {
    if (letter === '1' || letter === '2') this.#streams[letter].push(rest)
    else if (letter === 'b') this.#begun.resolve()
    else if (letter === 'g') {
      this.#room += rest.readUInt32BE()
      this.#onRoom?.()
    } else if (letter === 'p') this.#closeInput()
    else if (letter === 'f') this.#fail(rest.readUInt8(), rest.readUInt32BE(1))
    else if (letter === 'e') {
      // a command can kill its keeper before that has reported the start
      this.#begun.resolve()
      this.#exit(endOf(rest.readUInt8(), rest.readUInt8(1)))
    } else void this.#leave(rest.readUInt32BE() > 0)
  }

  /** @param survivors whether processes of the command may remain */
  lose(survivors: Promise<boolean>): void {
    this.#begun.reject(execError('EIO', 'the machine was lost while the command was started', { remedy: 'try again' }))
    this.#exit({ lost: true })
    void survivors.then((remain) => this.#leave(remain))
  }

  #exit(end: CommandEnd): void {
    this.#isExited = true
    this.#exited.resolve(end)
    this.#closeInput()
  }

  #fail(step: number, number: number): void {
    const error = stepError(steps[step] ?? '', number)
    this.#begun.reject(error)
    this.#exited.reject(error)
    this.#isExited = true
    this.#closeInput()
    void this.#leave(false)
  }

  /** Never rejects: the listeners of the base do not. */
  async #leave(survivors: boolean): Promise<void> {
    await Promise.all([this.#streams[1].delivered, this.#streams[2].delivered])
    this.#onGone()
    this.#gone.resolve({ survivors })
  }

  #closeInput(): void {
    this.#room = Number.POSITIVE_INFINITY
    this.#onRoom?.()
    this.stdin?.destroy()
  }

  /** Never rejects. */
  async #write(chunk: Buffer, done: () => void): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      while (this.#room <= 0) await new Promise<void>((resolve) => (this.#onRoom = resolve))
      if (this.stdin?.destroyed === true) break
      const part = chunk.subarray(at, at + Math.min(piece, this.#room))
      this.#room -= part.length
      at += part.length
      this.#send('i', this.id, part)
    }
    done()
  }
}

/** One stream of output: the command may send as much again as its listener has taken. */
class OutputStream {
  readonly #listener: CommandRun['onStdout']
  readonly #grant: (bytes: number) => void
  #taken = 0
  #left = credit
  delivered: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(listener: CommandRun['onStdout'], grant: (bytes: number) => void) {
    this.#listener = listener
    this.#grant = grant
  }

  /** @throws for more bytes than were granted, which would wait here without a limit */
  push(bytes: Buffer): void {
    this.#left -= bytes.length
    if (this.#left < 0) throw new Error('more output than was granted')
    if (this.#waiting === 0) {
      const pending = this.#listener(bytes)
      if (!(pending instanceof Promise)) return this.#take(bytes.length)
      this.#waiting++
      this.delivered = pending.then(() => this.#done(bytes.length))
      return
    }
    const kept = Buffer.from(bytes)
    this.#waiting++
    this.delivered = this.delivered.then(() => this.#listener(kept)).then(() => this.#done(kept.length))
  }

  #done(bytes: number): void {
    this.#waiting--
    this.#take(bytes)
  }

  #take(bytes: number): void {
    this.#taken += bytes
    if (this.#taken < credit / 2) return
    this.#grant(this.#taken)
    this.#left += this.#taken
    this.#taken = 0
  }
}

function endOf(kind: number, value: number): CommandEnd {
  if (kind === 0) return { status: value }
  if (kind === 1) return { signal: names.find(([, number]) => number === value)?.[0] ?? `signal ${value}` }
  return { lost: true }
}

/** Numbers of errors, as Linux has them. */
const errors: Readonly<Record<number, string>> = { 2: 'ENOENT', 7: 'E2BIG', 11: 'EAGAIN', 12: 'ENOMEM', 13: 'EACCES' }

function stepError(step: string, number: number): Error {
  const name = errors[number] ?? `error ${number}`
  const native = Object.assign(new Error(`${step}: ${name}`), { code: name })
  if (step === 'after')
    return execError('EIO', 'the command was not run, since the machine could not keep a file for it', {
      remedy: 'make room on the machine, and run it again',
      native,
    })
  if (step === 'program' && number === 7)
    return execError('ENOEXEC', 'the arguments and the environment are too long', {
      remedy: 'write them to a file',
      native,
    })
  if (step === 'program')
    return execError('ENOEXEC', `the program cannot be run there (${name})`, {
      remedy: 'use a machine or an image that has it',
      native,
    })
  if (step === 'directory')
    return execError('ENOEXEC', `the working directory cannot be entered (${name})`, {
      remedy: 'let the owner of the workspace enter it',
      native,
    })
  return execError('ENOEXEC', `the machine could not start the command (${step}: ${name})`, {
    remedy: 'end other commands there, or raise the limits of the machine',
    native,
  })
}
