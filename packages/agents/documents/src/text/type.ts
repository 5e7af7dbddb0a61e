export interface FileDescription {
  /** Such as `image/png`. */
  readonly mime: string
  /** Without a dot: `png`. */
  readonly extension: string
}

/** The first entries of a ZIP archive show its kind. */
const longestHead = 8192

/** The type of a file by its content; `undefined` for text and unknown types. @param head the first 8,192 bytes of the file */
export async function describeType(head: Uint8Array): Promise<FileDescription | undefined> {
  const { fileTypeFromBuffer } = await import('file-type')
  try {
    const type = await fileTypeFromBuffer(head.subarray(0, longestHead))
    return type && { mime: type.mime, extension: type.ext }
  } catch {
    // The head of an archive can end inside an entry.
    return undefined
  }
}
