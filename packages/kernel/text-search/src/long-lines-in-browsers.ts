import { compileRegex } from './regex.ts'
import type { LineRequest } from './worker.ts'

/** Instructions times characters that take about 200 ms. */
const maxSteps = 4_000_000

/**
 * Takes the place of `long-lines.ts` in bundles for browsers, which have no threads of Node: the line is searched at
 * once. `undefined` for a line that would hold the event loop for more than about 200 ms. -1 without a match.
 */
export function findInLongLine({ pattern, caseSensitive, line }: LineRequest): Promise<number | undefined> {
  const { find, size } = compileRegex(pattern, caseSensitive)
  return Promise.resolve(line.length * size > maxSteps ? undefined : find(line, 0))
}
