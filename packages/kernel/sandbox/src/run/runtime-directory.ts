import { chmodSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { removeTree } from './remove-tree.ts'
import { createTemporaryDirectory } from './temporary-directory.ts'
import { readProcessStat } from './tree/stat.ts'

/**
 * Creates a directory of an executor, outside every workspace. Its name identifies this process, for sweeps.
 * @param prefix such as `ws-proot-` @throws WorkspaceError `ENOEXECUTOR`
 */
export function createRuntimeDirectory(prefix: string): string {
  const path = createTemporaryDirectory(`${prefix}${process.pid}-${readProcessStat(process.pid)?.startTime ?? 0}-`)
  // As root, lets commands of another uid pass through this directory. Its entries have their own modes.
  if (process.getuid?.() === 0) chmodSync(path, 0o711)
  return path
}

/** Removes directories that killed processes of this uid left. Never throws. */
export function sweepRuntimeDirectories(prefix: string): void {
  try {
    const parent = realpathSync(tmpdir())
    for (const name of readdirSync(parent)) {
      const [, pid, started] = (name.startsWith(prefix) && /^(\d+)-(\d+)-/.exec(name.slice(prefix.length))) || []
      if (pid === undefined || readProcessStat(Number(pid))?.startTime === started) continue
      const path = join(parent, name)
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (stat?.isDirectory() && stat.uid === process.getuid?.()) removeRuntimeDirectory(path)
    }
  } catch {
    // A directory that cannot be listed is not swept.
  }
}

/** Removes a tree, even directories that their owner cannot enter. A later sweep removes leftovers. Never throws. */
export function removeRuntimeDirectory(path: string): void {
  try {
    removeTree(path)
  } catch {
    // A later sweep finds the leftovers: the directory's name identifies this process.
  }
}
