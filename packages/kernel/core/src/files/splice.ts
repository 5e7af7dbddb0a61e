import { Pace } from '../adapter/pace.ts'
import { virtualError } from '../mount/errors.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { OptionShape } from '../options/shapes.ts'
import type { TextEdit } from '../contract/file-door.ts'
import { findBytes } from './find-bytes.ts'

const operation = 'edit'
/** Maximum number of places that one edit replaces: each place takes memory. */
const mostPlaces = 100_000

const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()

const editShape = option.options<TextEdit>(
  {
    oldText: option.required(
      option.of('text that is not empty, without lone surrogates', (value) => isText(value) && value !== ''),
    ),
    newText: option.required(option.of('text without lone surrogates', isText)),
    all: option.boolean,
  },
  'an object with `oldText` and `newText`',
)
const listShape: OptionShape = {
  ...option.list(editShape, 'one edit, a list of one or more, or a function'),
  accepts: (value) => Array.isArray(value) && value.length > 0,
}

interface Wanted {
  readonly name: string
  readonly oldBytes: Uint8Array
  readonly newBytes: Uint8Array
  readonly all: boolean
}

interface EditRange {
  readonly start: number
  readonly end: number
  readonly edit: Wanted
}

export interface Spliced {
  readonly content: Uint8Array
  readonly isChanged: boolean
  readonly replacements: number
}

export function compileEdits(
  given: TextEdit | readonly TextEdit[],
): (content: Uint8Array, path: string, mostBytes: number, signal?: AbortSignal) => Promise<Spliced> {
  const isOne = typeof given === 'object' && given !== null && !Array.isArray(given)
  checkOption(operation, 'edits', given, isOne ? editShape : listShape)
  const encoder = new TextEncoder()
  const edits = [given].flat().map(({ oldText, newText, all = false }, index): Wanted => {
    const name = isOne ? '`oldText`' : `\`edits[${index}].oldText\``
    return { name, oldBytes: encoder.encode(oldText), newBytes: encoder.encode(newText), all }
  })
  return async (content, path, mostBytes, signal) => {
    const pace = new Pace(signal)
    const places: EditRange[] = []
    for (const edit of edits) for (const place of await placesOf(edit, content, path, pace)) places.push(place)
    places.sort((left, right) => left.start - right.start)
    return splice(content, places, path, mostBytes, pace)
  }
}

async function placesOf(edit: Wanted, content: Uint8Array, path: string, pace: Pace): Promise<EditRange[]> {
  const { name, oldBytes, all } = edit
  const places: EditRange[] = []
  let [count, free] = [0, 0]
  for (const start of findBytes(content, oldBytes)) {
    if (pace.isDue) await pace.rest()
    if (start === undefined || (all && start < free)) continue
    count += 1
    free = start + oldBytes.length
    if (all && count > mostPlaces) {
      const reason = `holds ${name} more than ${mostPlaces.toLocaleString('en')} times`
      throw refusal(path, reason, 'replace longer parts of it, or write the file anew')
    }
    if (all || count === 1) places.push({ start, end: free, edit })
  }
  if (count === 0) {
    throw refusal(path, `does not hold ${name}`, 'read it again, and copy the text exactly, with its white space')
  }
  if (count > 1 && !all) {
    throw refusal(path, `holds ${name} ${count} times`, 'add the text around it until it is unique, or set `all`')
  }
  return places
}

async function splice(
  content: Uint8Array,
  places: readonly EditRange[],
  path: string,
  mostBytes: number,
  pace: Pace,
): Promise<Spliced> {
  let size = content.length
  for (const [index, { start, end, edit }] of places.entries()) {
    const before = places[index - 1]
    if (before !== undefined && start < before.end) {
      throw refusal(path, `would get edits that overlap: ${before.edit.name} and ${edit.name}`, 'join them into one')
    }
    size += edit.newBytes.length - (end - start)
  }
  if (size > mostBytes) throw tooLargeError(path, size, mostBytes)
  const spliced = new Uint8Array(size)
  let [from, to] = [0, 0]
  const put = (bytes: Uint8Array): void => {
    spliced.set(bytes, to)
    to += bytes.length
  }
  for (const [index, { start, end, edit }] of places.entries()) {
    if (index % 1000 === 0 && pace.isDue) await pace.rest()
    put(content.subarray(from, start))
    put(edit.newBytes)
    from = end
  }
  put(content.subarray(from))
  const isChanged = places.some(({ edit }) => !isSame(edit.oldBytes, edit.newBytes))
  return { content: spliced, isChanged, replacements: places.length }
}

export function isSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  // large arrays are usually aligned: compares four bytes at a time
  const isAligned = left.byteOffset % 4 === 0 && right.byteOffset % 4 === 0
  const words = isAligned ? left.length >>> 2 : 0
  if (words > 0) {
    const ours = new Uint32Array(left.buffer, left.byteOffset, words)
    const theirs = new Uint32Array(right.buffer, right.byteOffset, words)
    for (let at = 0; at < words; at += 1) if (ours[at] !== theirs[at]) return false
  }
  for (let at = words * 4; at < left.length; at += 1) if (left[at] !== right[at]) return false
  return true
}

export function tooLargeError(path: string, size: number, mostBytes: number): Error {
  return virtualError({
    code: 'EFBIG',
    operation,
    path,
    reason: `would have ${size} bytes; the limit is ${mostBytes}`,
    remedy: 'write it with `write` from a stream',
  })
}

function refusal(path: string, reason: string, remedy: string): Error {
  return virtualError({ code: 'EINVAL', operation, path, reason, remedy })
}
