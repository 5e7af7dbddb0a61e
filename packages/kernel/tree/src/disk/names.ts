import { isUtf8 } from 'node:buffer'
import { readdirSync, readlinkSync } from 'node:fs'

import { selfOf } from './root.ts'
import { isTemporary } from './temporary.ts'

/** The replacement character. Node shows it for bytes that are not UTF-8, but it can also be part of a valid name. */
const replacement = '\uFFFD'

/** Returns the names in a directory. Calls `tell`, with bytes, for each name that cannot be saved. */
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

/** Returns a link's target; `undefined` if it is not valid UTF-8. */
export function targetIn(place: string): string | undefined {
  const target = readlinkSync(place)
  const isText = !target.includes(replacement) || isUtf8(readlinkSync(place, { encoding: 'buffer' }))
  return isText ? target : undefined
}
