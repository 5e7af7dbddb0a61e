import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

import { type Control, ControlRefusal } from '../control/client.ts'
import { asText } from '../control/text.ts'

/** Messages that are kept for diagnosis. */
const kept = 40

/** Messages of the level `DEBUG` that are read. */
const aboutNames =
  /^\{"level":"debug","msg":"(?:Added virtual directory entry vAddFile|vfs cache: writeback object|(?:\\u003e|>)?(?:Create|Mkdir|Remove|Rename): )/

/** Callbacks for rclone's messages. */
export interface MountLogListener {
  readonly onUploadFailure: () => void
  /** A file was closed, and is to be uploaded. `time`: milliseconds since the epoch, as rclone noted it. */
  readonly onQueue: (name: string, time: number) => void
  /** An upload has ended. `calledOff`: rclone cancelled the upload, so the store may or may not have the file. */
  readonly onUploadEnd: (name: string, calledOff: boolean, time: number) => void
  readonly onRename: (from: string, to: string, time: number) => void
  /** Called after `onRename` for each file in the directory. Both names end with a slash. */
  readonly onDirectoryRename: (from: string, to: string) => void
  readonly onDelete: (name: string, time: number) => void
  /** The store has a file whose upload has not ended yet. `under`: the file's earlier name, if the object still has that name. */
  readonly onStored: (name: string, under: string | undefined) => void
  /** The store has copied an object because rclone is renaming a file or a directory. */
  readonly onCopied: (from: string, to: string) => void
  /** An upload is about to end, and the file is shown next. This callback and those below need the log level `DEBUG`. */
  readonly onEnding: (name: string) => void
  readonly onShown: (name: string) => void
  /** A program makes an entry. A change ends before the next change in this directory begins. */
  readonly onMaking: (directory: string, name: string) => void
  readonly onRemoving: (directory: string, name: string) => void
  readonly onMoving: (directory: string, from: string, to: string) => void
  readonly onChanged: (directory: string, isDone: boolean) => void
}

/** rclone's messages. Each message is a line of JSON. */
export class MountLog {
  /** The address of the control interface, once it is known. */
  readonly address: Promise<string>
  /** Files whose last upload failed, with rclone's message about the failure. */
  readonly failing = new Map<string, string>()
  readonly #tail: string[] = []
  readonly #listeners = new Set<() => void>()
  readonly #listener: MountLogListener
  readonly #marks = new Map<string, () => void>()

  constructor(stream: Readable, listener: MountLogListener) {
    this.#listener = listener
    const { promise, resolve } = Promise.withResolvers<string>()
    this.address = promise
    const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
    lines.on('line', (line) => {
      if (line.startsWith('{"level":"debug"') && !aboutNames.test(line)) return
      const { message, object, level, time } = parse(line)
      if (this.#marks.size > 0 && this.#reach(message)) return
      const [, address] = /Serving remote control on (http:\/\/\S+)/.exec(message) ?? []
      if (address !== undefined) resolve(address)
      if (level !== 'info' && level !== 'debug') this.#keep(message)
      this.#noteUpload(object, message, time)
    })
    stream.on('error', () => lines.close())
  }

  /** Warnings and errors for operators, the latest last. */
  get text(): string {
    return this.#tail.join('\n')
  }

  /** Resolves when all earlier messages are read: an answer of rclone may arrive before its earlier messages. */
  async catchUp(control: Control, signal?: AbortSignal): Promise<void> {
    const mark = `ws-mark-${randomUUID()}`
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stop = (): void => reject(signal?.reason)
    this.#marks.set(mark, resolve)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      await Promise.all([writeMark(control, mark, signal), promise])
    } finally {
      this.#marks.delete(mark)
      signal?.removeEventListener('abort', stop)
    }
  }

  #reach(message: string): boolean {
    for (const [mark, resolve] of this.#marks) {
      if (!message.includes(mark)) continue
      resolve()
      return true
    }
    return false
  }

  /** Calls the listener when an upload ends. Returns a function that stops the calls. */
  onUpload(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #keep(message: string): void {
    this.#tail.push(message)
    if (this.#tail.length > kept) this.#tail.shift()
  }

  #noteUpload(object: string, message: string, time: number): void {
    const [isStored, under] =
      /^(?:Multi-thread )?Copied \((?:new|replaced existing)\)(?: to: (.+))?$/s.exec(message) ?? []
    if (isStored !== undefined) this.#listener.onStored(object, under)
    const [, copy] = /^Copied \(server-side copy\) to: (.+)$/s.exec(message) ?? []
    if (copy !== undefined) this.#listener.onCopied(object, copy)
    if (!message.startsWith('vfs cache: ')) return this.#noteChange(object, message)
    if (message === 'vfs cache: writeback object to VFS layer') this.#listener.onEnding(object)
    const [, renamed] = /^vfs cache: renamed in cache to (".*")$/.exec(message) ?? []
    if (renamed !== undefined) this.#listener.onRename(object, unquote(renamed), time)
    const [, directory] = /^vfs cache: renamed dir in cache to (".*")$/.exec(message) ?? []
    if (directory !== undefined) this.#listener.onDirectoryRename(object, unquote(directory))
    else if (message.startsWith('vfs cache: queuing for upload')) this.#listener.onQueue(object, time)
    else if (message === 'vfs cache: removed cache file as file deleted') this.#listener.onDelete(object, time)
    const calledOff = isCalledOff(message)
    if (calledOff || message.startsWith('vfs cache: upload succeeded')) {
      this.failing.delete(object)
      this.#listener.onUploadEnd(object, calledOff, time)
    } else if (message.startsWith('vfs cache: failed to upload')) {
      this.failing.set(object, message)
      this.#listener.onUploadFailure()
    } else return
    for (const listener of this.#listeners) listener()
  }

  #noteChange(object: string, message: string): void {
    const [, leaf] = /^Added virtual directory entry vAddFile: (".*")$/s.exec(message) ?? []
    if (leaf !== undefined) return this.#listener.onShown(join(object, unquote(leaf)))
    const directory = object.replace(/^\/|\/$/g, '')
    const [, isEnd, kind, what = ''] = /^(>?)(Create|Mkdir|Remove|Rename): (.+)$/s.exec(message) ?? []
    if (isEnd === '>') return this.#listener.onChanged(directory, what.endsWith('err=<nil>'))
    const [, from, to, at = ''] = /^oldName=(".*"), newName=(".*"), newDir=\/?(.*)$/s.exec(what) ?? []
    const [, name] = /^name=(".*")$/s.exec(what) ?? []
    if (from !== undefined) this.#listener.onMoving(directory, unquote(from), join(at, unquote(to ?? '')))
    else if (name === undefined) return
    else if (kind === 'Remove') this.#listener.onRemoving(directory, unquote(name))
    else this.#listener.onMaking(directory, unquote(name))
  }
}

/** Writes a mark to rclone's log: rclone logs errors together with the given parameters. */
async function writeMark(control: Control, mark: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await control.call('rc/error', { mark }, { signal })
  } catch (error) {
    if (!(error instanceof ControlRefusal)) throw error
  }
}

/** True if rclone itself cancelled an upload, because the file was renamed, replaced or removed. */
function isCalledOff(message: string): boolean {
  return message === 'vfs cache: upload canceled' || /^vfs cache: failed to upload .*context canceled$/s.test(message)
}

/** A name as Go quotes it: like JSON, except for characters that are hardly ever in a name. */
function unquote(quoted: string): string {
  try {
    return asText(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

interface Message {
  readonly message: string
  readonly object: string
  readonly level: string
  readonly time: number
}

function parse(line: string): Message {
  try {
    const { msg, object, level, time } = JSON.parse(line) as Record<string, unknown>
    if (typeof msg === 'string') {
      const at = Date.parse(asText(time))
      return { message: msg, object: asText(object), level: asText(level), time: Number.isNaN(at) ? Date.now() : at }
    }
  } catch {
    // rclone writes plain text before it reads its flags, and when it crashes
  }
  return { message: line, object: '', level: 'plain', time: Date.now() }
}
