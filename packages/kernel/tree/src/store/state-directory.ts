import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { failed, nativeCode, nativeFailure } from '../errors.ts'

/** Creates a missing directory and its parents, closed to other users. Returns its canonical path. */
export function openStateDirectory(given: string): string {
  try {
    mkdirSync(given, { recursive: true, mode: 0o700 })
    const directory = join(realpathSync(dirname(given)), given.slice(given.lastIndexOf('/') + 1))
    const { mode, uid } = statusOf(directory)
    if (uid !== process.getuid?.()) throw unusable('belongs to another user')
    if ((mode & 0o077) !== 0) throw unusable('can be reached by other users', '`chmod 700` it, or name another one')
    return directory
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'ELOOP') throw unusable('is a file or a link')
    throw nativeFailure(error)
  }
}

function statusOf(directory: string): { readonly mode: number; readonly uid: number } {
  const status = lstatSync(directory)
  if (!status.isDirectory()) throw unusable('is a file or a link')
  return status
}

function unusable(reason: string, remedy = 'name another directory, which this user owns'): Error {
  return failed('EINVAL', `the \`stateDirectory\` ${reason}`, remedy)
}
