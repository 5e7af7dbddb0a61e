import mime from 'mime'

/** The type of a file that models take as media, or `undefined`: by its name, as deepagents decides it. */
export function mediaTypeOf(path: string): string | undefined {
  const type = mime.getType(path)
  // TypeScript files have the ending of a kind of video
  if (type === null || type === 'video/mp2t' || type === 'image/svg+xml') return undefined
  return /^(?:image|audio|video)\/|^application\/(?:pdf|vnd\.(?:ms-|openxmlformats-officedocument))/u.test(type)
    ? type
    : undefined
}

/** The type of a file that holds text. deepagents takes these for text. */
export function textTypeOf(path: string): string {
  const type = mime.getType(path)
  const isText = type !== null && (type.startsWith('text/') || type === 'application/json' || type === 'image/svg+xml')
  return isText ? type : 'text/plain'
}

/** The text of bytes in UTF-8, its byte order mark included; `undefined` for other bytes, and for those with a NUL. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
