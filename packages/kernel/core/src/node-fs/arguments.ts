import { maxNameBytes } from '../path/virtual-path.ts'
import { invalidType, invalidValue, nodeError } from './errors.ts'

export type PathArgument = string | Uint8Array | URL

export type ContentArgument =
  | string
  | ArrayBufferView
  | Iterable<string | ArrayBufferView>
  | AsyncIterable<string | ArrayBufferView>

export interface EncodingOptions {
  readonly encoding?: string | null | undefined
}

interface BufferMaker {
  isEncoding(encoding: string): boolean
  from(bytes: ArrayBufferLike, offset: number, length: number): Uint8Array & { toString(encoding: string): string }
  from(text: string, encoding: string): Uint8Array
}

const makeBuffer = (globalThis as { readonly Buffer?: BufferMaker }).Buffer
const utf8 = new Set(['utf8', 'utf-8', 'UTF-8', 'UTF8'])

/** @throws Node's errors for a path with NUL, of another type, or with a name that is too long */
export function pathOf(given: PathArgument, syscall: string): string {
  const path = pathText(given)
  if (path.includes('\0')) {
    throw invalidValue('path', path, 'must be a string, Uint8Array, or URL without null bytes')
  }
  if (path === '') throw nodeError('ENOENT', { syscall, path })
  for (const name of path.split('/')) {
    const mayBeLong = name.length * 3 > maxNameBytes
    if (mayBeLong && new TextEncoder().encode(name).length > maxNameBytes) {
      throw nodeError('ENAMETOOLONG', { syscall, path })
    }
  }
  return path
}

function pathText(given: PathArgument): string {
  if (typeof given === 'string') return given
  if (given instanceof Uint8Array) return new TextDecoder('utf-8', { fatal: true }).decode(given)
  if (given instanceof URL && given.protocol === 'file:') return decodeURIComponent(given.pathname)
  throw invalidType('path', 'of type string or an instance of Buffer or URL', given)
}

export function above(path: string): string {
  const [, parent = ''] = /^(.*)\/[^/]+\/*$/u.exec(path) ?? []
  return parent === '' ? (path.startsWith('/') ? '/' : '.') : parent
}

/** @throws Node's error for an unknown encoding */
export function encodingOf(options: EncodingOptions | string | null | undefined): string | undefined {
  const encoding = (typeof options === 'string' ? options : options?.encoding) ?? undefined
  if (encoding === undefined || utf8.has(encoding) || encoding === 'buffer') return encoding
  if (makeBuffer?.isEncoding(encoding) === true) return encoding
  throw invalidEncoding(encoding)
}

function invalidEncoding(encoding: string): Error {
  return invalidValue('encoding', encoding, 'is invalid encoding')
}

/** Returns text for an encoding; else a `Buffer`, or bytes if this runtime has no `Buffer`. */
export function shaped(bytes: Uint8Array, encoding: string | undefined): string | Uint8Array {
  if (encoding !== undefined && utf8.has(encoding)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const buffer = makeBuffer?.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (encoding === undefined || encoding === 'buffer') return buffer ?? bytes
  if (buffer === undefined) throw invalidEncoding(encoding)
  return buffer.toString(encoding)
}

export function bytesOf(data: string | ArrayBufferView, encoding = 'utf8'): Uint8Array {
  if (typeof data !== 'string') return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  if (utf8.has(encoding)) return new TextEncoder().encode(data)
  if (makeBuffer === undefined) throw invalidEncoding(encoding)
  return makeBuffer.from(data, encoding)
}

export function contentOf(data: ContentArgument, encoding: string | undefined): Uint8Array | AsyncIterable<Uint8Array> {
  if (typeof data === 'string' || ArrayBuffer.isView(data)) return bytesOf(data, encoding)
  if (typeof data !== 'object' || data === null || !(Symbol.iterator in data || Symbol.asyncIterator in data)) {
    throw invalidType('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data)
  }
  return (async function* () {
    for await (const chunk of data) yield bytesOf(chunk, encoding)
  })()
}

/** Converts a time of `utimes` (seconds, or a date) to milliseconds since the epoch. */
export function timeOf(time: number | string | Date): number {
  const milliseconds = time instanceof Date ? time.getTime() : Number(time) * 1000
  if (!Number.isFinite(milliseconds)) throw invalidType('time', 'an instance of Date or an Time in seconds', time)
  return Math.max(0, Math.trunc(milliseconds))
}

export interface OpenMode {
  readonly reads: boolean
  readonly writes: boolean
  readonly appends: boolean
  readonly creates: boolean
  readonly exclusive: boolean
  readonly truncates: boolean
}

/** Linux values of the constants for flags, and for modes of `access` and `copyFile`. */
export const constants = {
  ...{ F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 },
  ...{ COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4 },
  ...{ O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000 },
} as const

/** @throws Node's `ERR_INVALID_ARG_VALUE` for flags that it refuses */
export function openModeOf(flags: string | number): OpenMode {
  if (typeof flags === 'number') {
    const has = (bit: number): boolean => (flags & bit) !== 0
    const writes = has(constants.O_WRONLY | constants.O_RDWR)
    return {
      reads: !has(constants.O_WRONLY),
      writes,
      appends: has(constants.O_APPEND),
      creates: has(constants.O_CREAT),
      exclusive: has(constants.O_EXCL),
      truncates: has(constants.O_TRUNC) && writes,
    }
  }
  const [, kind, rest = ''] = /^([rwa])((?:x|s)?\+?|\+x|\+s)$/u.exec(flags) ?? []
  const isKnown = kind !== undefined && !(kind === 'r' && rest.includes('x')) && !(kind === 'w' && rest.includes('s'))
  if (!isKnown) throw invalidValue('flags', flags)
  return {
    reads: kind === 'r' || rest.includes('+'),
    writes: kind !== 'r' || rest.includes('+'),
    appends: kind === 'a',
    creates: kind !== 'r',
    exclusive: rest.includes('x'),
    truncates: kind === 'w',
  }
}
