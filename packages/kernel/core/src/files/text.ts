import { virtualError } from '../mount/errors.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Maximum string length, in UTF-16 units, that every known runtime supports. */
const longestText = 2 ** 29 - 25
const encoder = new TextEncoder()

export function decodeText(bytes: Uint8Array, path: string): string {
  try {
    return decoder.decode(bytes)
  } catch {
    if (bytes.byteLength <= longestText) throw notTextError(path)
    throw virtualError({
      code: 'EFBIG',
      operation: 'readText',
      path,
      reason: `is too large for one string: ${bytes.byteLength} bytes`,
      remedy: 'read it with `readLines`, or as bytes with `readStream`',
    })
  }
}

export function notTextError(path: string): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'read',
    path,
    reason: 'is not UTF-8 text',
    remedy: 'read it as bytes with `read`',
  })
}

/** Encodes text as UTF-8. @throws WorkspaceError `EINVAL` for a lone surrogate, which UTF-8 cannot represent */
export function encodeText(text: string, path: string): Uint8Array {
  if (!text.isWellFormed()) {
    throw virtualError({
      code: 'EINVAL',
      operation: 'write',
      path,
      reason: 'would get text with a lone surrogate, which UTF-8 cannot hold',
      remedy: 'write well-formed Unicode, or bytes',
    })
  }
  return encoder.encode(text)
}
