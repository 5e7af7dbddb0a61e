import { quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import type { Outcome } from '../answers/problem.ts'
import { isFault } from '../images/fit.ts'
import { openImage } from '../images/read.ts'
import type { Call } from '../session/session.ts'
import { readWindow } from './window.ts'
import type { WindowRequest } from './window.ts'

/** Lines of a text file, or an image. */
export async function readEntry(call: Call, request: WindowRequest): Promise<Outcome> {
  try {
    return await readWindow(call, request)
  } catch (error) {
    const type = error instanceof ToolProblem ? error.options.data?.['type'] : undefined
    if (typeof type !== 'string' || !type.startsWith('image/')) throw error
    const image = await viewImage(call, request.path)
    if (image === undefined) throw error
    return image
  }
}

/** `undefined` for a file that is not a PNG, JPEG, GIF or WebP. */
export async function viewImage(call: Call, path: VirtualPath): Promise<Outcome | undefined> {
  const read = await openImage(call.workspace, path, { signal: call.signal })
  if (read === undefined) return undefined
  const { image, version, words } = read
  if (isFault(image)) {
    const { code, reason, remedy } = image
    throw new ToolProblem({
      sentence: `${quotePath(path)} ${reason}`,
      remedy,
      next: { operation: 'inspect', arguments: { path } },
      data: { code, path, version },
    })
  }
  call.session.see(path, version)
  const { type, bytes, width, height, change } = image
  const shown = change === undefined ? '' : `; the image is ${change}`
  return {
    text: `${call.show(path)}: ${words}${shown}${call.versioned(`\n[version ${version}]`)}`,
    data: { path, version, type, width, height },
    image: { mediaType: type, data: Buffer.from(bytes).toString('base64'), width, height },
  }
}
