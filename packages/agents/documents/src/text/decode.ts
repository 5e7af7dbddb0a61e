import { TextDecoder } from 'node:util'

import { WorkspaceError } from '@ws/core'
import { checkOption, checkOptions, option } from '@ws/core/options'
import { analyse } from 'chardet'

import { byteOrderMark } from './byte-order-mark.ts'
import { lineEndingOf, type LineEnding } from './line-ending.ts'

const operation = 'decodeText'
/** Bytes that serve to guess an encoding. A larger sample hardly changes the guess, and costs time. */
const sampleSize = 8 * 1024

export interface DecodeTextOptions {
  /** A name that `TextDecoder` accepts, such as `shift_jis`. Default: detected. */
  readonly encoding?: string | undefined
}

export interface DecodedText {
  /** Without the byte order mark. */
  readonly text: string
  /** The name in `TextDecoder`: `utf-8`, `utf-16le`, `windows-1252`. */
  readonly encoding: string
  /** The source of the encoding. Text of a `guess` may be wrong: show it, but do not write it back. */
  readonly detection: 'bom' | 'utf-8' | 'guess' | 'given'
  readonly bom: boolean
  readonly lineEnding: LineEnding
  readonly finalNewline: boolean
}

/**
 * Decodes a whole file synchronously, in 1 to 8 ms per MiB.
 * Uses `encoding`, else the byte order mark, else UTF-8 if valid, else a guess.
 * @throws WorkspaceError `EINVAL` for an unknown encoding, UTF-32, and bytes that are invalid in the given or marked encoding
 */
export function decodeText(bytes: Uint8Array, options: DecodeTextOptions = {}): DecodedText {
  checkOption(
    operation,
    'bytes',
    bytes,
    option.of('a `Uint8Array`', (value) => value instanceof Uint8Array),
  )
  checkOptions<DecodeTextOptions>(options, { encoding: option.text }, { operation })
  const { text, encoding, detection } = decode(bytes, options.encoding)
  return {
    text,
    encoding,
    detection,
    bom: byteOrderMark(bytes) === encoding,
    lineEnding: lineEndingOf(text),
    finalNewline: text.endsWith('\n') || text.endsWith('\r'),
  }
}

type Decoded = Pick<DecodedText, 'text' | 'encoding' | 'detection'>

function decode(bytes: Uint8Array, given: string | undefined): Decoded {
  if (given !== undefined) {
    const decoder = decoderOf(given)
    if (decoder === undefined) {
      throw failure(
        `\`encoding\` must be an encoding that \`TextDecoder\` knows, got ${JSON.stringify(given)}`,
        'pass such a name, for example `windows-1252`, or leave `encoding` out',
      )
    }
    return { text: decodeStrictly(decoder, bytes), encoding: decoder.encoding, detection: 'given' }
  }
  const mark = byteOrderMark(bytes)
  if (mark === 'utf-32le' || mark === 'utf-32be') {
    throw failure(`the text is ${mark.toUpperCase()}, which is not supported`, 'convert it to UTF-8')
  }
  if (mark !== undefined) {
    return { text: decodeStrictly(new TextDecoder(mark, { fatal: true }), bytes), encoding: mark, detection: 'bom' }
  }
  const text = attempt(new TextDecoder('utf-8', { fatal: true }), bytes)
  return text === undefined ? guess(bytes) : { text, encoding: 'utf-8', detection: 'utf-8' }
}

function guess(bytes: Uint8Array): Decoded {
  for (const { name } of analyse(sample(bytes))) {
    const decoder = name.startsWith('UTF') ? undefined : decoderOf(name)
    const text = decoder && attempt(decoder, bytes)
    if (decoder && text !== undefined) return { text, encoding: decoder.encoding, detection: 'guess' }
  }
  const last = new TextDecoder('windows-1252')
  return { text: last.decode(bytes), encoding: last.encoding, detection: 'guess' }
}

/** Bytes around the first non-ASCII byte: ASCII bytes fit every encoding. */
function sample(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte > 0x7f)
  const start = Math.max(0, first - sampleSize / 4)
  return bytes.subarray(start, start + sampleSize)
}

function decoderOf(name: string): TextDecoder | undefined {
  try {
    return new TextDecoder(name, { fatal: true })
  } catch {
    return undefined
  }
}

function attempt(decoder: TextDecoder, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

function decodeStrictly(decoder: TextDecoder, bytes: Uint8Array): string {
  const text = attempt(decoder, bytes)
  if (text !== undefined) return text
  throw failure(`the text has bytes that are not ${decoder.encoding}`, 'pass the right `encoding`')
}

function failure(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy })
}
