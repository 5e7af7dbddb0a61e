import { virtualError } from './errors.ts'
import type { AccessEvent } from './types.ts'

const mostLabels = 32
const longestValue = 256
const labelName = /^[A-Za-z0-9._-]{1,64}$/

/**
 * The labels of a workspace, as its events carry them: a frozen copy.
 *
 * @throws WorkspaceError `EINVAL` that names the label
 */
export function readLabels(given: unknown): AccessEvent['labels'] {
  if (given === undefined) return Object.freeze({})
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(`\`labels\` must be an object of strings, got ${given === null ? 'null' : typeof given}`)
  }
  const entries: readonly (readonly [string, unknown])[] = Object.entries(given)
  if (entries.length > mostLabels) {
    throw invalid(`\`labels\` must have at most ${mostLabels} entries, got ${entries.length}`)
  }
  for (const [name, value] of entries) {
    if (!labelName.test(name)) throw invalid('names in `labels` must be 1 to 64 characters of `A-Za-z0-9._-`')
    if (typeof value !== 'string' || value.length > longestValue || !value.isWellFormed()) {
      const got =
        typeof value !== 'string' ? typeof value : value.isWellFormed() ? `${value.length}` : 'a lone surrogate'
      throw invalid(`\`labels.${name}\` must be a string of at most ${longestValue} characters, got ${got}`)
    }
  }
  return Object.freeze(Object.fromEntries(entries) as Record<string, string>)
}

function invalid(reason: string): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'createWorkspace',
    reason,
    remedy: "pass labels such as `{ thread: 't1', user: 'u7' }`",
  })
}
