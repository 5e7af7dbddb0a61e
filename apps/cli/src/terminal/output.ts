import { Interruption, StreamError } from '../errors.ts'
import { escapeJson, escapeText, nameOn } from './escape.ts'

export interface Output {
  readonly json: boolean
  readonly terminal: boolean
  /** Prints a line of text. Colours are printed only on a terminal. */
  line(text: string): Promise<void>
  /** Prints a program's output unchanged, also on a terminal. Resolves when more output may be written. */
  bytes(chunk: Uint8Array): Promise<void>
  /** Prints workspace content: unchanged, or escaped on a terminal. */
  content(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void>
  value(value: unknown): Promise<void>
  name(name: string): string
}

export interface OutputOptions {
  readonly json: boolean
  /** Called when the reader closes the pipe, or a write fails. */
  readonly onFailure: (reason: Error) => void
}

/** Standard output with backpressure. A closed pipe ends the command without message; any other failure is an error. */
export function createOutput(stream: NodeJS.WriteStream, { json, onFailure }: OutputOptions): Output {
  const broken: { reason?: Error } = {}
  const check = (): void => {
    if (broken.reason !== undefined) throw broken.reason
  }
  stream.on('error', (error: NodeJS.ErrnoException) => {
    broken.reason ??=
      error.code === 'EPIPE'
        ? new Interruption('SIGPIPE')
        : new StreamError(`standard output cannot be written (${error.code ?? 'EIO'}); direct it elsewhere`)
    onFailure(broken.reason)
  })
  const write = async (chunk: string | Uint8Array): Promise<void> => {
    check()
    await new Promise<void>((resolve) => {
      stream.write(chunk, () => {
        resolve()
      })
    })
    check()
  }
  const terminal = stream.isTTY
  const content: Output['content'] = async (chunks) => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    for await (const chunk of chunks)
      await write(terminal ? escapeText(decoder.decode(chunk, { stream: true })) : chunk)
    if (terminal) await write(escapeText(decoder.decode()))
  }
  return {
    json,
    terminal,
    line: (text) => write(`${terminal ? escapeText(text, { colours: true }) : text}\n`),
    bytes: write,
    content,
    value: (value) => write(`${terminal ? escapeJson(JSON.stringify(value)) : JSON.stringify(value)}\n`),
    name: (name) => nameOn(stream, name),
  }
}
