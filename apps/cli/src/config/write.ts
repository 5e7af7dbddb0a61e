import { lstatSync, rmSync, statSync, writeFileSync } from 'node:fs'

import { UsageError } from '../errors.ts'

/** Writes a config file. Replaces a link at this path instead of following the link. @throws UsageError */
export function writeConfig(file: string, shown: string, text: string): void {
  try {
    rmSync(file, { force: true })
    writeFileSync(file, text, { flag: 'wx' })
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    throw new UsageError(
      `--file: ${shown} cannot be written (${code}); give the name of a file in a directory of yours`,
    )
  }
}

export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // the caller reports a path without a directory
  }
}

export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false // `writeConfig` will report the same error
  }
}
