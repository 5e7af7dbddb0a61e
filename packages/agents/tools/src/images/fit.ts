import type { ErrorCode } from '@ws/core'

import { imageSizeOf, isAnimated, isWhole, type ImageSize, type ImageType } from './header.ts'

/**
 * Pixels of a side. Anthropic refuses more than 8,000, and more than 2,000 in a request with over 20 images. One such image would make
 * every later request of a conversation fail. https://platform.claude.com/docs/en/build-with-claude/vision
 */
export const maxSide = 2000
/**
 * Bytes whose base64 has 5 MiB, the limit of Anthropic for an image (https://github.com/gptme/gptme/issues/185).
 * OpenAI takes more: https://developers.openai.com/api/docs/guides/images-vision
 */
export const maxImageBytes = (5 * 1024 * 1024 * 3) / 4
/** Limits of an image that is scaled down: its bytes, and the pixels that its decoder holds in memory. */
export const maxSourceBytes = 32 * 1024 * 1024
const maxSourcePixels = 50_000_000
/** Seconds for one image. */
const scaleTime = 20
const quality = 90

export interface ModelImage extends ImageSize {
  readonly type: ImageType
  readonly bytes: Uint8Array
  /** A part of a sentence about the image that the model gets instead of the file's own. */
  readonly change?: string | undefined
}

/** A part of a sentence behind the path, and the way on. */
export interface ImageFault {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy: string
}

export const inWords = (type: ImageType, size: ImageSize | undefined, bytes: number): string =>
  [type, ...(size ? [pixels(size)] : []), `${bytes} bytes`].join(', ')

const pixels = ({ width, height }: ImageSize) => `${width} × ${height} pixels`

/** The image as a model may get it, or why it may not. A larger or moving image needs the optional package `sharp`. */
export async function fitImage(type: ImageType, bytes: Uint8Array, scale: boolean): Promise<ModelImage | ImageFault> {
  const size = imageSizeOf(type, bytes)
  if (size === undefined || !isWhole(type, bytes)) return broken(type, bytes.length, 'is cut off or broken')
  const animated = isAnimated(type, bytes)
  const reason = animated
    ? `is ${inWords(type, size, bytes.length)}, and moves; models see still images`
    : `is ${inWords(type, size, bytes.length)}; models take at most ${maxSide} pixels of a side and ${maxImageBytes} bytes`
  if (!animated && size.width <= maxSide && size.height <= maxSide && bytes.length <= maxImageBytes) {
    return { type, bytes, ...size }
  }
  if (size.width * size.height > maxSourcePixels) return tooLarge(reason)
  const sharp = scale ? await loadSharp() : undefined
  if (sharp === undefined) return tooLarge(reason)
  try {
    const { data, info } = await sharp(bytes, { limitInputPixels: maxSourcePixels })
      .autoOrient()
      .resize(maxSide, maxSide, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality })
      .timeout({ seconds: scaleTime })
      .toBuffer({ resolveWithObject: true })
    if (data.length > maxImageBytes) return tooLarge(reason)
    const { width, height } = info
    const change = `${animated ? 'the first frame' : 'scaled down'}, as WebP of ${pixels({ width, height })}`
    return { type: 'image/webp', bytes: data, width, height, change }
  } catch {
    return broken(type, bytes.length, 'cannot be decoded') // messages of the decoder may name paths of the machine
  }
}

export const isFault = (image: ModelImage | ImageFault): image is ImageFault => 'reason' in image

export function tooLarge(reason: string): ImageFault {
  return { code: 'EFBIG', reason, remedy: 'make a smaller still image of it with a command, or ask for one' }
}

function broken(type: ImageType, bytes: number, state: string): ImageFault {
  return {
    code: 'EINVAL',
    reason: `is ${inWords(type, undefined, bytes)}, and ${state}`,
    remedy: 'get the image again',
  }
}

type Sharp = typeof import('sharp').default
let loaded: Promise<Sharp | undefined> | undefined

/** `undefined` where the package is not installed. */
async function loadSharp(): Promise<Sharp | undefined> {
  loaded ??= import('sharp').then(
    (module) => module.default,
    () => undefined, // optional: without it large images are refused
  )
  return loaded
}
