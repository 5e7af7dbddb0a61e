import type { BufferEncoding, ByteString, FileContent, IFileSystem } from 'just-bash'

export type EncodingOption = Parameters<IFileSystem['readFile']>[1] | BufferEncoding | undefined

function encodingOf(option: EncodingOption): BufferEncoding {
  return (typeof option === 'string' ? option : option?.encoding) ?? 'utf8'
}

/** Text of bytes; invalid UTF-8 becomes U+FFFD. */
export function decode(bytes: Uint8Array, option?: EncodingOption): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(encodingOf(option))
}

/** One character for each byte. */
export function asBinary(bytes: Uint8Array): ByteString {
  // The brand is just-bash's; taking its function for it would load the interpreter here.
  return decode(bytes, 'latin1') as unknown as ByteString
}

export function encode(content: FileContent, option?: EncodingOption): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, encodingOf(option)) : content
}
