import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'

export interface UnifiedDiffOptions {
  readonly path: string
  /** Characters; longer diffs are cut with a note. Default 4,096. */
  readonly maxLength?: number | undefined
}

const contextLines = 3

/** A diff for people and models in bounded time: large changes are summarised. */
export function unifiedDiff(
  before: Uint8Array,
  after: Uint8Array,
  { path, maxLength = 4096 }: UnifiedDiffOptions,
): string {
  const [left, right] = [bufferOf(before), bufferOf(after)]
  const head = sharedHead(left, right)
  const tail = sharedTail(left.subarray(head), right.subarray(head))
  const from = linesBack(left, head, contextLines)
  const part = (bytes: Buffer): string =>
    bytes.toString('utf8', from, linesOn(bytes, bytes.length - tail, contextLines))
  const first = lineNumber(left, from) - 1
  const summary = `the change begins in line ${lineNumber(left, head)}`
  if (left.length + right.length - 2 * (head + tail) > maxChangedBytes) return `${summary}; it is too large to show\n`
  const patch = createTwoFilesPatch(path, path, part(left), part(right), undefined, undefined, {
    context: contextLines,
    timeout: 100,
    maxEditLength: 2000,
    headerOptions: FILE_HEADERS_ONLY,
  })
  if (patch === undefined) return `${summary}; it is too large to show\n`
  const shown = patch.replaceAll(
    /^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@/gmu,
    (_, old: string, oldCount: string, next: string, nextCount: string) =>
      `@@ -${Number(old) + first}${oldCount} +${Number(next) + first}${nextCount} @@`,
  )
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength)}\n… cut: ${summary}\n`
}

const lf = 10
/** Limit of the bytes compared line by line. `block`: bytes compared at once, to find equal ends. */
const maxChangedBytes = 1024 * 1024
const block = 65_536

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function sharedHead(left: Buffer, right: Buffer): number {
  const length = Math.min(left.length, right.length)
  let same = 0
  while (same + block <= length && left.compare(right, same, same + block, same, same + block) === 0) same += block
  while (same < length && left[same] === right[same]) same += 1
  return same
}

function sharedTail(left: Buffer, right: Buffer): number {
  const length = Math.min(left.length, right.length)
  let same = 0
  const equals = (count: number): boolean =>
    left.compare(right, right.length - count, right.length - same, left.length - count, left.length - same) === 0
  while (same + block <= length && equals(same + block)) same += block
  while (same < length && left[left.length - 1 - same] === right[right.length - 1 - same]) same += 1
  return same
}

function lineNumber(bytes: Buffer, offset: number): number {
  let line = 1
  for (let at = bytes.indexOf(lf); at !== -1 && at < offset; at = bytes.indexOf(lf, at + 1)) line += 1
  return line
}

function linesBack(bytes: Buffer, offset: number, count: number): number {
  let at = offset
  for (let line = 0; line <= count && at > 0; line++) at = bytes.lastIndexOf(lf, at - 1)
  return at <= 0 ? 0 : at + 1
}

function linesOn(bytes: Buffer, offset: number, count: number): number {
  let at = offset
  for (let line = 0; line <= count && at !== -1; line++)
    at = bytes.indexOf(lf, at) === -1 ? -1 : bytes.indexOf(lf, at) + 1
  return at === -1 ? bytes.length : at
}
