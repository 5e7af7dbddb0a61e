import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import { textOf } from '../control/text.ts'

/** Messages that are kept for diagnosis. */
const kept = 40

/** What rclone says: a line of JSON for each message. */
export class MountLog {
  /** The address of the control interface, once it is known. */
  readonly address: Promise<string>
  /** Files whose last upload failed, with what was said of it. */
  readonly failing = new Map<string, string>()
  readonly #tail: string[] = []
  readonly #listeners = new Set<() => void>()
  readonly #onFailure: () => void

  constructor(stream: Readable, onUploadFailure: () => void) {
    this.#onFailure = onUploadFailure
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
    if (message.startsWith('vfs cache: upload succeeded')) this.failing.delete(object)
    else if (message.startsWith('vfs cache: failed to upload')) {
      this.failing.set(object, message)
      this.#onFailure()
    } else return
    for (const listener of this.#listeners) listener()
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
