import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Processes, Temporary } from '@ws/sandbox'

const prefix = 'ws-proot-'
const namePattern = /^ws-proot-(\d+)-(\d+)-/

/** Creates a directory for views, outside every workspace. Its name identifies the process, for sweeps. @throws `ENOEXECUTOR` */
export function createRuntimeDirectory(): string {
  const path = Temporary.createTemporaryDirectory(
    `${prefix}${process.pid}-${Processes.readProcessStat(process.pid)?.startTime ?? 0}-`,
  )
  // As root, lets commands of another uid pass through this directory. Its entries have their own modes.
  if (process.getuid?.() === 0) chmodSync(path, 0o711)
  return path
}

/** Creates a directory with its content. On a failure, removes it: a partial directory would block the next attempt. */
export function createWhole<Filled>(path: string, fill: () => Filled): Filled {
  mkdirSync(path, { mode: 0o700 })
  try {
    return fill()
  } catch (error) {
    removeTree(path)
    throw error
  }
}

/** Removes leftover directories of killed processes of this uid. Never throws. */
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
    // A directory that cannot be listed is not swept.
  }
}

/** Removes a tree, even directories that their owner cannot enter. A later sweep removes leftovers. Never throws. */
export function removeTree(path: string): void {
  try {
    Temporary.removeTree(path)
  } catch {
    // A later sweep finds the leftovers: the directory's name identifies this process.
  }
}
