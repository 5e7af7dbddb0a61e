import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { Version, Workspace } from '@ws/core'

import { fitImage, inWords, isFault, maxSourceBytes, tooLarge, type ImageFault, type ModelImage } from './fit.ts'
import { imageSizeOf, imageTypeOf, type ImageSize } from './header.ts'

const headBytes = 8192
/** Bytes that show the kind and mostly the pixels. The frame header of a JPEG may stand behind metadata. */
const imageHeadBytes = 65_536

export interface ReadImage {
  readonly image: ModelImage | ImageFault
  readonly version: Version
  /** Kind, pixels and bytes of the file. */
  readonly words: string
  /** The file's own; absent for a broken header. */
  readonly size: ImageSize | undefined
}

interface ReadImageOptions {
  readonly signal?: AbortSignal | undefined
  /** False: refuse an image that would have to be changed. Default true. */
  readonly scale?: boolean | undefined
}

/** Reads a file that begins as an image. `undefined` if it is another by now. */
export async function openImage(
  workspace: Workspace,
  path: string,
  { signal, scale = true }: ReadImageOptions,
): Promise<ReadImage | undefined> {
  try {
    const { bytes, stat } = await workspace.read(path, { maxBytes: maxSourceBytes, signal })
    const type = imageTypeOf(bytes)
    if (type === undefined) return undefined
    const size = imageSizeOf(type, bytes)
    const image = await fitImage(type, bytes, scale)
    return { image, version: stat.version, words: inWords(type, size, bytes.length), size }
  } catch (error) {
    if (!isWorkspaceError(error, 'EFBIG')) throw error
  }
  const { bytes, stat } = await workspace.read(path, { range: { offset: 0, length: imageHeadBytes }, signal })
  const type = imageTypeOf(bytes)
  if (type === undefined) return undefined
  const size = imageSizeOf(type, bytes)
  const words = inWords(type, size, stat.size)
  return {
    image: tooLarge(`is ${words}; images of at most ${maxSourceBytes} bytes are read`),
    version: stat.version,
    words,
    size,
  }
}

/**
 * The PNG, JPEG, GIF or WebP of a path, as models take it: at most 2,000 pixels of a side and 3,932,160 bytes. `undefined` for another
 * file. With the optional package `sharp`, a larger image is scaled down, and of a moving one the first frame is given.
 * `scale: false` refuses an image that would have to be changed.
 * @throws WorkspaceError `EFBIG` with the sizes of an image that is too large, `EINVAL` for a broken one
 */
export async function readImage(
  workspace: Workspace,
  path: string,
  options: { readonly signal?: AbortSignal | undefined; readonly scale?: boolean | undefined } = {},
): Promise<ModelImage | undefined> {
  const { bytes } = await workspace.read(path, { range: { offset: 0, length: headBytes }, signal: options.signal })
  // a text may begin with the letters of a GIF; each header has a zero
  if (!bytes.includes(0) || imageTypeOf(bytes) === undefined) return undefined
  const image = (await openImage(workspace, path, options))?.image
  if (image !== undefined && isFault(image)) throw new WorkspaceError({ operation: 'read', path, ...image })
  return image
}
