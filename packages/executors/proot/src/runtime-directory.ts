import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Processes, Temporary } from '@ws/sandbox'

const prefix = 'ws-proot-'
const namePattern = /^ws-proot-(\d+)-(\d+)-/

/** Makes a directory for views, outside every workspace. The name contains the process, for sweeps. @throws WorkspaceError `ENOEXECUTOR` */
export function createRuntimeDirectory(): string {
  const path = Temporary.createTemporaryDirectory(
    `${prefix}${process.pid}-${Processes.readProcessStat(process.pid)?.startTime ?? 0}-`,
  )
  // With root, commands of another uid must traverse this directory; its entries have their own modes.
  if (process.getuid?.() === 0) chmodSync(path, 0o711)
  return path
}

/** Makes a directory with its content, or nothing: a partial directory would block the next attempt. */
export function createWhole<Filled>(path: string, fill: () => Filled): Filled {
  mkdirSync(path, { mode: 0o700 })
  try {
    return fill()
  } catch (error) {
    removeTree(path)
    throw error
  }
}

/** Removes leftovers of this uid's killed processes. Never throws. */
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
    // An unlistable directory needs no sweep.
  }
}

/** Also removes directories that their owner may not enter. Never throws: a later sweep removes leftovers. */
export function removeTree(path: string): void {
  try {
    Temporary.removeTree(path)
  } catch {
    // A later sweep finds the directory's process in its name.
  }
}
