import { WorkspaceError } from '@ws/core'

/** Decodes text. UTF-8 is strict and keeps its byte order mark, so that writing the text back does not change the file. */
export function decodeText(bytes: Uint8Array, path: string, encoding = 'utf-8'): string {
  if (!isUtf8(encoding)) return Buffer.from(bytes).toString(known(encoding, path, 'readTextFile'))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'readTextFile',
      path,
      reason: 'is not UTF-8 text',
      remedy: 'give its `encoding`, or use readBinaryFile',
    })
  }
}

export function encodeText(text: string, path: string, encoding = 'utf-8'): string | Uint8Array {
  if (isUtf8(encoding)) return text
  return Buffer.from(text, known(encoding, path, 'writeTextFile'))
}

function isUtf8(encoding: string): boolean {
  return /^utf-?8$/iu.test(encoding)
}

function known(encoding: string, path: string, operation: string): BufferEncoding {
  if (Buffer.isEncoding(encoding)) return encoding
  throw new WorkspaceError({
    code: 'EINVAL',
    operation,
    path,
    reason: `\`${encoding}\` is not an encoding here`,
    remedy: 'use `utf-8`, `utf-16le`, `latin1`, `ascii`, `base64` or `hex`, or the binary methods',
  })
}
