import mime from 'mime'

/** The type of a media file for models, derived from its name as in deepagents; `undefined` for other files. */
export function mediaTypeOf(path: string): string | undefined {
  const type = mime.getType(path)
  // the MIME database lists the extension of TypeScript files as a kind of video
  if (type === null || type === 'video/mp2t' || type === 'image/svg+xml') return undefined
  return /^(?:image|audio|video)\/|^application\/(?:pdf|vnd\.(?:ms-|openxmlformats-officedocument))/u.test(type)
    ? type
    : undefined
}

/** The media type of a file that deepagents treats as text. */
export function textTypeOf(path: string): string {
  const type = mime.getType(path)
  const isText = type !== null && (type.startsWith('text/') || type === 'application/json' || type === 'image/svg+xml')
  return isText ? type : 'text/plain'
}

/** Text with its byte order mark; `undefined` for bytes that are not UTF-8 or contain a NUL. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
