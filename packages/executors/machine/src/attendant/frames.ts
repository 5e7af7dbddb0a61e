/** Frames of the attendant: see `attendant.pl`. A frame is 4 bytes length of the rest, a letter, 4 bytes the command, and the rest. */

/** Bytes of each stream of a command that may be on their way. */
export const credit = 262_144
/** Largest piece of input in a frame. */
export const piece = 65_536
/** Limit in bytes of an order: attendants take frames of 32 MiB. */
export const longestOrder = 2 ** 25 - 64
const longest = 2 ** 20
const headBytes = 9

export type OrderLetter = 's' | 'i' | 'c' | 'g' | 'z' | 'k' | 'x'
/** Begun, failed, credit for input, input closed by the command, stdout, stderr, ended, none left; and the mounts, of no command. */
const reports = ['b', 'f', 'g', 'p', '1', '2', 'e', 'n', 'm'] as const
export type ReportLetter = (typeof reports)[number]

export interface Frame {
  readonly letter: ReportLetter
  readonly id: number
  readonly rest: Buffer
}

/** The steps that can fail before a command runs, by number. */
export const steps = ['', 'fork', 'terminal', 'limits', 'directory', 'content', 'program', 'after', 'filter'] as const

export function encodeFrame(letter: OrderLetter, id: number, rest: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + rest.length)
  frame.writeUInt32BE(headBytes - 4 + rest.length)
  frame.write(letter, 4, 'latin1')
  frame.writeUInt32BE(id, 5)
  frame.set(rest, headBytes)
  return frame
}

export interface AttendantOrder {
  /** The program, looked up in the PATH of `env`, and its arguments. */
  readonly argv: readonly string[]
  /** An absolute path. Default: the directory in which the attendant runs. */
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** True: no variable of the attendant is passed on. Default false. */
  readonly clearEnv?: boolean | undefined
  /** Default false: empty input. */
  readonly hasInput?: boolean | undefined
  /** Runs the command on a terminal. Its output comes as stdout. */
  readonly terminal?: { readonly columns: number; readonly rows: number } | undefined
  /** The number of an earlier command, which must have ended with status 0. Otherwise this one does not run. */
  readonly after?: number | undefined
  /** A file without a name that the command has as this descriptor, read from its start. */
  readonly content?: { readonly descriptor: number; readonly bytes: Uint8Array } | undefined
  /** A filter of system calls, as the kernel takes it: the command cannot get rid of it. */
  readonly filter?: Uint8Array | undefined
  /** `resource soft hard`: numbers for the system call `prlimit64`. */
  readonly limits?: readonly string[] | undefined
}

/** Encodes an order: a letter, 4 bytes length and the value for each field. */
export function encodeOrder(order: AttendantOrder): Buffer {
  const fields: Buffer[] = []
  const add = (letter: string, value: string | Uint8Array) => {
    const bytes = typeof value === 'string' ? Buffer.from(value) : value
    const head = Buffer.alloc(5)
    head.write(letter, 'latin1')
    head.writeUInt32BE(bytes.length, 1)
    fields.push(head, Buffer.from(bytes))
  }
  for (const argument of order.argv) add('a', argument)
  for (const [name, value] of Object.entries(order.env ?? {})) add('e', `${name}=${value}`)
  for (const limit of order.limits ?? []) add('l', limit)
  if (order.cwd !== undefined) add('d', order.cwd)
  if (order.clearEnv === true) add('c', '1')
  if (order.hasInput === true) add('i', '1')
  if (order.after !== undefined) add('w', String(order.after))
  if (order.filter !== undefined) add('s', order.filter)
  if (order.terminal !== undefined) add('t', encodeSize(order.terminal))
  if (order.content !== undefined)
    add('f', Buffer.concat([Buffer.from([order.content.descriptor]), order.content.bytes]))
  return Buffer.concat(fields)
}

/** Encodes a size as the kernel's `struct winsize`, in the byte order of x64 and arm64. */
export function encodeSize({ columns, rows }: { readonly columns: number; readonly rows: number }): Buffer {
  const size = Buffer.alloc(8)
  size.writeUInt16LE(rows)
  size.writeUInt16LE(columns, 2)
  return size
}

/** Splits a stream into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0)

  /** @throws for bytes that no attendant sends */
  read(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = []
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    while (this.#rest.length >= 4) {
      const end = 4 + this.#rest.readUInt32BE()
      if (end < headBytes || end > longest) throw new Error('a frame of a wrong length')
      if (this.#rest.length < end) break
      const letter = reports.find((one) => one === this.#rest.toString('latin1', 4, 5))
      if (letter === undefined) throw new Error('an unknown frame')
      const frame = { letter, id: this.#rest.readUInt32BE(5), rest: this.#rest.subarray(headBytes, end) }
      this.#rest = this.#rest.subarray(end)
      frames.push(frame)
    }
    return frames
  }
}
