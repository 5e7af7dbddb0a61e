import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

import { UsageError } from '../errors.ts'

const pathOnly = 0o10000000

export function readPlan(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new UsageError('the plan cannot be read; give a YAML or JSON file of this machine')
  }
}

/**
 * Makes a missing output directory. As root, makes the directory for the workspace's owner.
 * A command could replace the directory: open it without following links, and change it by descriptor. @throws UsageError
 */
export function prepareOutput(output: string, workspace: string): void {
  try {
    const { uid, gid } = statSync(workspace)
    const missing: string[] = []
    let at = resolve(output)
    while (statSync(at, { throwIfNoEntry: false }) === undefined) {
      missing.unshift(basename(at))
      at = dirname(at)
    }
    // Without `/proc` no commands run, so no command can replace the directory.
    if (!existsSync('/proc/self/fd')) {
      mkdirSync(output, { recursive: true })
      return
    }
    let fd = openSync(at, pathOnly | constants.O_DIRECTORY)
    try {
      for (const name of missing) {
        const path = `/proc/self/fd/${fd}/${name}`
        mkdirSync(path)
        const made = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
        closeSync(fd)
        fd = made
      }
      if (missing.length === 0 || process.getuid?.() !== 0) return
      const { uid: maker, nlink, dev } = fstatSync(fd)
      if (maker !== 0 || nlink > 2 || dev !== statSync(at).dev) throw new Error('exchanged')
      fchownSync(fd, uid, gid)
    } finally {
      closeSync(fd)
    }
  } catch {
    throw new UsageError('--output is not a directory and cannot be made; give one that can be written')
  }
}

export function writeReport(file: string, html: string): void {
  try {
    writeFileSync(file, html)
  } catch {
    throw new UsageError('--report cannot be written; give a file in a directory that is there')
  }
}
