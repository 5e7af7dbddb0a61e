import { option } from '../options/shapes.ts'
import type { OptionShape } from '../options/shapes.ts'
import type { AccessEvent } from '../contract/workspace.ts'

const mostLabels = 32
const longestValue = 256

export const labelsShape: OptionShape = {
  ...option.map(
    option.of('1 to 64 characters of `A-Za-z0-9._-`', (name) => /^[A-Za-z0-9._-]{1,64}$/.test(String(name))),
    option.of(
      `a string of at most ${longestValue} characters, well-formed`,
      (value) => typeof value === 'string' && value.length <= longestValue && value.isWellFormed(),
    ),
  ),
  must: `an object with at most ${mostLabels} strings`,
  accepts: (value) => option.object.accepts(value) && Object.keys(value as object).length <= mostLabels,
}

/** Returns a frozen copy of checked labels, for events. */
export function copyLabels(given: Readonly<Record<string, string>> = {}): AccessEvent['labels'] {
  return Object.freeze({ ...given })
}
