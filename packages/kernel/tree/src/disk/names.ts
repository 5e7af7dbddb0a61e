import { isUtf8 } from 'node:buffer'
import { readdirSync, readlinkSync } from 'node:fs'

import { selfOf } from './root.ts'
import { isTemporary } from './temporary.ts'

/** The replacement character, which stands for bytes that are not UTF-8 but can also be part of a valid name. */
const replacement = '\uFFFD'

/** The names in a directory. Names that cannot be saved are reported as bytes. */
export function namesIn(fd: number, tell: (name: Buffer) => void): string[] {
  const names = readdirSync(selfOf(fd))
  if (!names.some((name) => name.includes(replacement) || isTemporary(name))) return names
  return readdirSync(selfOf(fd), { encoding: 'buffer' }).flatMap((name) => {
    const text = name.toString()
    if (isUtf8(name) && !isTemporary(text)) return [text]
    tell(name)
    return []
  })
}

/** The target of a link. `undefined`: it is not valid UTF-8. */
export function targetIn(place: string): string | undefined {
  const target = readlinkSync(place)
  const isText = !target.includes(replacement) || isUtf8(readlinkSync(place, { encoding: 'buffer' }))
  return isText ? target : undefined
}
