/** The standard input and output of an attendant. */
export interface AttendantStream {
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Ends, or throws, when the attendant is lost. */
  readonly output: AsyncIterable<Uint8Array>
  /** Called when the first command begins and when the last one is gone: whether this process has to wait for the stream. */
  hold?(isBusy: boolean): void
}

/** Bytes of the stream in one line: the attendant reads lines whole. */
const lineBytes = 49_152

/** Carries a stream as lines of base64, for sessions of strings. */
export function toLines(bytes: Uint8Array): Buffer {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += lineBytes)
    lines.push(Buffer.from(bytes.subarray(at, at + lineBytes)).toString('base64'), '\n')
  return Buffer.from(lines.join(''), 'latin1')
}

/** Most bytes before the greeting, and in a line. */
const longestLine = 131_072
const greeting = 'ws-attendant 1\n'

/** @returns the stream after the greeting of the attendant. Programs that start it, such as login shells, may print before. */
export async function* afterGreeting(output: AsyncIterable<Uint8Array>, onGreeted: () => void): AsyncGenerator<Buffer> {
  let before: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of output) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (before === undefined) {
      yield bytes
      continue
    }
    before = Buffer.concat([before, bytes])
    const at = before.indexOf(greeting)
    if (at < 0 && before.length > longestLine) throw new Error('no greeting')
    if (at < 0) continue
    const rest: Buffer = before.subarray(at + greeting.length)
    before = undefined
    onGreeted()
    if (rest.length > 0) yield rest
  }
}

/** @returns the bytes in lines of base64 */
export async function* fromLines(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = ''
  for await (const chunk of output) {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > longestLine) throw new Error('a line without an end')
    for (const line of lines) yield Buffer.from(line, 'base64')
  }
}
