import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import { textOf } from '../control/text.ts'

/** Messages that are kept for diagnosis. */
const kept = 40

/** What is made of rclone's messages. */
export interface MountLogListener {
  readonly onUploadFailure: () => void
  /** An upload of this name has ended, or was called off. */
  readonly onUploadEnd: (name: string) => void
  readonly onRename: (from: string, to: string) => void
}

/** What rclone says: a line of JSON for each message. */
export class MountLog {
  /** The address of the control interface, once it is known. */
  readonly address: Promise<string>
  /** Files whose last upload failed, with what was said of it. */
  readonly failing = new Map<string, string>()
  readonly #tail: string[] = []
  readonly #listeners = new Set<() => void>()
  readonly #listener: MountLogListener

  constructor(stream: Readable, listener: MountLogListener) {
    this.#listener = listener
    const { promise, resolve } = Promise.withResolvers<string>()
    this.address = promise
    const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
    lines.on('line', (line) => {
      const { message, object, level } = parse(line)
      const [, address] = /Serving remote control on (http:\/\/\S+)/.exec(message) ?? []
      if (address !== undefined) resolve(address)
      if (level !== 'info') this.#keep(message)
      this.#noteUpload(object, message)
    })
    stream.on('error', () => lines.close())
  }

  /** Warnings and errors, the latest last. For operators. */
  get text(): string {
    return this.#tail.join('\n')
  }

  /** Calls back at each upload that ends. Returns the function that ends it. */
  onUpload(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #keep(message: string): void {
    this.#tail.push(message)
    if (this.#tail.length > kept) this.#tail.shift()
  }

  #noteUpload(object: string, message: string): void {
    if (!message.startsWith('vfs cache: ')) return
    const [, renamed] = /^vfs cache: renamed in cache to (".*")$/.exec(message) ?? []
    if (renamed !== undefined) {
      this.failing.delete(object)
      this.#listener.onRename(object, unquote(renamed))
      return
    }
    const isEnd = message.startsWith('vfs cache: upload succeeded') || isCalledOff(message)
    const isFailure = !isEnd && message.startsWith('vfs cache: failed to upload')
    if (!isEnd && !isFailure) return
    this.#listener.onUploadEnd(object)
    if (isEnd) this.failing.delete(object)
    else {
      this.failing.set(object, message)
      this.#listener.onUploadFailure()
    }
    for (const listener of this.#listeners) listener()
  }
}

/** By rclone itself, for a file that was renamed, replaced or removed. */
function isCalledOff(message: string): boolean {
  return message === 'vfs cache: upload canceled' || /^vfs cache: failed to upload .*context canceled$/s.test(message)
}

/** A name as Go quotes it: like JSON, but for what can hardly be in a name. */
function unquote(quoted: string): string {
  try {
    return textOf(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

interface Message {
  readonly message: string
  readonly object: string
  readonly level: string
}

function parse(line: string): Message {
  try {
    const { msg, object, level } = JSON.parse(line) as Record<string, unknown>
    if (typeof msg === 'string') return { message: msg, object: textOf(object), level: textOf(level) }
  } catch {
    // before it reads its flags, and when it dies, rclone speaks plainly
  }
  return { message: line, object: '', level: 'plain' }
}
