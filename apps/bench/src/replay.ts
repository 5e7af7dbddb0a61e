import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process'
import fs, {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { Duplex } from 'node:stream'

/** A process start as an executor makes it, so that it can be made again by a bare `child_process.spawn`. */
export interface RecordedStart {
  /** Starts the same program with the same arguments, user and descriptors, and waits for its end. */
  replay(): Promise<void>
  close(): void
}

interface Held {
  readonly fd: number
  readonly flags: number
}

interface EntryAttributes {
  readonly directory: boolean
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

type Slot = 'pipe' | 'ignore' | 'inherit' | Held

const pathOnly = 0x20_0000 // O_PATH

/**
 * Records the last process that `work` starts, of those that `isWanted` takes. Descriptors are kept open by names in
 * `/proc`; writes to further pipes are repeated at once.
 */
export async function recordStart(
  work: () => Promise<unknown>,
  isWanted: (program: string) => boolean,
): Promise<RecordedStart> {
  const original = childProcess.spawn
  const originalWrite = fs.writeSync
  const writes: PipeWrites = new Map()
  const recordingWrite = (fd: number, data: string | NodeJS.ArrayBufferView, ...rest: []): number => {
    if (data instanceof Uint8Array) writesTo(fd, writes)?.push(Buffer.from(data))
    return originalWrite(fd, data as Uint8Array, ...rest)
  }
  let recorded: Recorder | undefined
  const recording = (program: string, parameters: readonly string[], options: SpawnOptions): ChildProcess => {
    if (!isWanted(program)) return original(program, parameters, options)
    recorded?.close()
    const start = new Recorder(program, parameters, options, writes)
    recorded = start
    const child = original(program, parameters, options)
    start.listen(child)
    return child
  }
  childProcess.spawn = recording as typeof childProcess.spawn
  fs.writeSync = recordingWrite as typeof fs.writeSync
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    childProcess.spawn = original
    fs.writeSync = originalWrite
    syncBuiltinESMExports()
  }
  if (recorded === undefined) throw new Error('no process was started')
  // Remains of the command are removed when its result has been handed out; later they would be missing at the first
  // repetition.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  return recorded
}

class Recorder implements RecordedStart {
  readonly #program: string
  readonly #parameters: readonly string[]
  readonly #options: SpawnOptions
  readonly #slots: readonly Slot[]
  readonly #own: ReadonlyMap<string, EntryAttributes>
  readonly #written = new Map<number, Buffer[]>()

  constructor(program: string, parameters: readonly string[], options: SpawnOptions, writes: PipeWrites) {
    this.#program = program
    this.#parameters = parameters
    this.#options = options
    const stdio = Array.isArray(options.stdio) ? options.stdio : []
    this.#slots = stdio.map(
      (slot): Slot => (typeof slot === 'number' ? hold(slot) : slot === 'pipe' ? 'pipe' : 'ignore'),
    )
    for (const [index, slot] of stdio.entries()) {
      const written = index > 2 && typeof slot === 'number' ? writesTo(slot, writes) : undefined
      if (written !== undefined) this.#written.set(index, written)
    }
    const texts = [...parameters, ...this.#slots.map(contentOf)]
    this.#own = new Map(texts.flatMap(privatePlaces).map((path) => [path, attributesOf(path)]))
  }

  /** Notes what is written to the pipes above standard error. */
  listen(child: ChildProcess): void {
    for (const [index, slot] of this.#slots.entries()) {
      const pipe = child.stdio[index] as Duplex | null | undefined
      if (index < 3 || slot !== 'pipe' || !pipe) continue
      const written = this.#written.get(index) ?? []
      this.#written.set(index, written)
      const note = (chunk: unknown): void => {
        if (typeof chunk === 'string') written.push(Buffer.from(chunk))
        else if (chunk instanceof Uint8Array) written.push(Buffer.from(chunk))
      }
      const write = pipe.write.bind(pipe)
      const end = pipe.end.bind(pipe)
      pipe.write = ((chunk: unknown, ...rest: []) => {
        note(chunk)
        return write(chunk, ...rest)
      }) as typeof pipe.write
      pipe.end = ((chunk: unknown, ...rest: []) => {
        note(chunk)
        return end(chunk, ...rest)
      }) as typeof pipe.end
    }
  }

  /** Makes again what the executor made for this one command, and took away with it: empty directories and covers. */
  #restore(): void {
    for (const [path, { directory, mode, uid, gid }] of this.#own) {
      if (existsSync(path)) continue
      if (directory) mkdirSync(path)
      else writeFileSync(path, '')
      chmodSync(path, mode)
      if (process.getuid?.() === 0) chownSync(path, uid, gid)
    }
  }

  async replay(): Promise<void> {
    this.#restore()
    const opened: number[] = []
    try {
      const stdio = this.#slots.map((slot) => {
        if (typeof slot === 'string') return slot
        // Opened anew: bytes that have been read must be there again.
        const fd = openSync(`/proc/self/fd/${slot.fd}`, slot.flags)
        opened.push(fd)
        return fd
      })
      const child = childProcess.spawn(this.#program, this.#parameters, { ...this.#options, stdio })
      await this.#follow(child)
    } finally {
      for (const fd of opened) closeSync(fd)
    }
  }

  #follow(child: ChildProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      let errors = ''
      child.stdout?.resume()
      child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString('latin1')))
      for (const [index, slot] of this.#slots.entries()) {
        const pipe = child.stdio[index] as Duplex | null | undefined
        if (index < 3 || slot !== 'pipe' || !pipe) continue
        pipe.on('error', () => undefined)
        pipe.resume()
        pipe.end(Buffer.concat(this.#written.get(index) ?? []))
      }
      child.on('error', reject)
      child.on('close', (code, signal) => {
        if (code === 0) resolve()
        else reject(new Error(`the bare command line ended with ${code ?? signal}: ${errors.trim()}`))
      })
    })
  }

  close(): void {
    for (const slot of this.#slots) if (typeof slot !== 'string') closeSync(slot.fd)
  }
}

function hold(fd: number): Held | 'pipe' {
  // Held open here, it would never come to its end.
  const status = fstatSync(fd)
  if (status.isFIFO() || status.isSocket()) return 'pipe'
  const flags = Number.parseInt(
    /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0',
    8,
  )
  // A file without a name carries O_TMPFILE, which asks for a directory: only the kind of access is kept.
  const kept = (flags & pathOnly) !== 0 ? pathOnly : flags & (constants.O_RDWR | constants.O_WRONLY)
  return { fd: openSync(`/proc/self/fd/${fd}`, kept), flags: kept }
}

/** The bytes that were written at once to each pipe, by its identity. */
type PipeWrites = Map<string, Buffer[]>

function writesTo(fd: number, writes: PipeWrites): Buffer[] | undefined {
  const identity = readlinkSync(`/proc/self/fd/${fd}`)
  if (!identity.startsWith('pipe:')) return undefined
  const written = writes.get(identity) ?? []
  writes.set(identity, written)
  return written
}

function contentOf(slot: Slot): string {
  if (typeof slot === 'string' || slot.flags !== constants.O_RDONLY) return ''
  const fd = openSync(`/proc/self/fd/${slot.fd}`, slot.flags)
  try {
    return readFileSync(fd, 'latin1')
  } catch {
    return '' // a directory
  } finally {
    closeSync(fd)
  }
}

/** Paths below a directory that is one command's own, parents first. */
function privatePlaces(text: string): string[] {
  const found = new Set<string>()
  for (const [path, base = ''] of text.matchAll(/(\/[\w./-]*?\/run-\d+)(?:\/[\w-]+)*/g)) {
    found.add(base)
    let at = base
    for (const name of path.slice(base.length + 1).split('/')) if (name !== '') found.add((at += `/${name}`))
  }
  return [...found].filter((path) => existsSync(path))
}

function attributesOf(path: string): EntryAttributes {
  const { mode, uid, gid } = lstatSync(path)
  return { directory: (mode & constants.S_IFMT) === constants.S_IFDIR, mode: mode & 0o7777, uid, gid }
}
