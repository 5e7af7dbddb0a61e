import { paths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

/** Limit of bytes in one name on common disks and stores. */
const longestName = 255

/** The time in UTC seconds, as a part of a name. */
export function stampOf(time: number): string {
  return new Date(time).toISOString().replaceAll(/[-:]|\.\d+/gu, '')
}

/** Returns `name.conflict-<word>.ext`. @param attempt starts at 1; later attempts append their number */
export function conflictPath(path: MountPath, word: string, attempt: number): MountPath {
  const name = paths.baseName(path)
  const dot = name.lastIndexOf('.')
  const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const mark = `.conflict-${word}${attempt === 1 ? '' : `-${attempt}`}`
  const room = longestName - Buffer.byteLength(mark)
  const ending = Buffer.byteLength(extension) < room / 2 ? extension : ''
  return paths.child(paths.parent(path), `${cut(stem, room - Buffer.byteLength(ending))}${mark}${ending}`)
}

/** Cuts a text after the last whole character that fits. */
function cut(text: string, bytes: number): string {
  let kept = ''
  let size = 0
  for (const character of text) {
    size += Buffer.byteLength(character)
    if (size > bytes) return kept
    kept += character
  }
  return kept
}
