import { compileRegex } from './regex.ts'
import type { LineRequest } from './worker.ts'

/** Product of instructions and characters for which a search takes about 200 ms. */
const maxSteps = 4_000_000

/** Replaces `long-lines.ts` in browsers, without threads. `undefined` if it would take more than about 200 ms; -1 without a match. */
export function findInLongLine({ pattern, caseSensitive, line }: LineRequest): Promise<number | undefined> {
  const { find, size } = compileRegex(pattern, caseSensitive)
  return Promise.resolve(line.length * size > maxSteps ? undefined : find(line, 0))
}
