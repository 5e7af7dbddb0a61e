import { decodeText, encodeText } from '@ws/shell-tools/files'
import type { BufferEncoding, ByteString, FileContent, IFileSystem } from 'just-bash'

export type EncodingOption = Parameters<IFileSystem['readFile']>[1] | BufferEncoding | undefined

function encodingOf(option: EncodingOption): BufferEncoding {
  return (typeof option === 'string' ? option : option?.encoding) ?? 'utf8'
}

export function decode(bytes: Uint8Array, option?: EncodingOption): string {
  const encoding = encodingOf(option)
  if (isUtf8(encoding)) return decodeText(bytes)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encoding)
}

/** Converts each byte to one character. */
export function asBinary(bytes: Uint8Array): ByteString {
  // The result lacks the brand of just-bash's type. just-bash's own function would load the interpreter here.
  return decode(bytes, 'latin1') as unknown as ByteString
}

export function encode(content: FileContent, option?: EncodingOption): Uint8Array {
  if (typeof content !== 'string') return content
  const encoding = encodingOf(option)
  return isUtf8(encoding) ? encodeText(content) : Buffer.from(content, encoding)
}

function isUtf8(encoding: BufferEncoding): boolean {
  return encoding === 'utf8' || encoding === 'utf-8'
}
