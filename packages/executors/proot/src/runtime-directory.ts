import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Processes, Temporary } from '@ws/sandbox'

const prefix = 'ws-proot-'
const namePattern = /^ws-proot-(\d+)-(\d+)-/

/**
 * A fresh directory for what a view is made of, outside every workspace. Its name says which process it belongs to, so
 * that one left by a killed process is known as such.
 *
 * @throws WorkspaceError `ENOEXECUTOR` where none can be made
 */
export function createRuntimeDirectory(): string {
  const path = Temporary.createTemporaryDirectory(
    `${prefix}${process.pid}-${Processes.readProcessStat(process.pid)?.startTime ?? 0}-`,
  )
  // As root, commands of another uid pass through it; its own entries say who may read them.
  if (process.getuid?.() === 0) chmodSync(path, 0o711)
  return path
}

/** Makes a directory and what is in it, or nothing: on a full disk, a part of it would be in the way of the next one. */
export function createWhole<Filled>(path: string, fill: () => Filled): Filled {
  mkdirSync(path, { mode: 0o700 })
  try {
    return fill()
  } catch (error) {
    removeTree(path)
    throw error
  }
}

/** Removes what killed processes of this uid have left. Never throws. */
export function sweepRuntimeDirectories(): void {
  try {
    const parent = realpathSync(tmpdir())
    for (const name of readdirSync(parent)) {
      const [, pid, started] = namePattern.exec(name) ?? []
      if (pid === undefined || Processes.readProcessStat(Number(pid))?.startTime === started) continue
      const path = join(parent, name)
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (stat?.isDirectory() && stat.uid === process.getuid?.()) removeTree(path)
    }
  } catch {
    // A directory that cannot be listed has nothing to sweep.
  }
}

/**
 * Removes a directory, also where a command has left directories in it that their owner may not enter. Never throws:
 * entries that cannot be removed now are swept later.
 */
export function removeTree(path: string): void {
  try {
    Temporary.removeTree(path)
  } catch {
    // Its name says whose it is.
  }
}
