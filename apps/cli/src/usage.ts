import { isWorkspaceError, paths, quotePath } from '@ws/core'

import { UsageError } from './errors.ts'

/** Converts the error of a check to a usage error that names the place. */
export function usageOf<Value>(place: string, check: () => Value): Value {
  try {
    return check()
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    throw new UsageError(`${place}: ${error.message}`)
  }
}

export function checkMountPoint(text: string, place: string): string {
  if (!text.startsWith('/')) {
    throw new UsageError(`${place}: ${quotePath(text)} is not absolute; give a path such as /workspace`)
  }
  return usageOf(place, () => paths.parseVirtual(text, { operation: 'mount' }))
}
