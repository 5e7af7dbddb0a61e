import { mkdirSync } from 'node:fs'

import { Temporary } from '@ws/sandbox'

export const prefix = 'ws-proot-'

/** Creates a directory with its content. On a failure, removes it: a partial directory would block the next attempt. */
export function createWhole<Filled>(path: string, fill: () => Filled): Filled {
  mkdirSync(path, { mode: 0o700 })
  try {
    return fill()
  } catch (error) {
    Temporary.removeRuntimeDirectory(path)
    throw error
  }
}
