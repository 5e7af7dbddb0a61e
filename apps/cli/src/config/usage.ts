import { isWorkspaceError } from '@ws/core'

import { UsageError } from '../errors.ts'

/** Runs what checks a value; its error becomes one that names the place. */
export function usageOf<Value>(place: string, check: () => Value): Value {
  try {
    return check()
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    throw new UsageError(`${place}: ${error.message}`)
  }
}
