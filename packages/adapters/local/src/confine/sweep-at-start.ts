import { type Handle, openChild, release } from './handle.ts'
import type { Task } from './task.ts'
import { sweep } from './temp.ts'
import { isTempName } from './hidden.ts'

/** Limit of entries examined for a new adapter. Later listings remove further leftovers. */
const mostEntries = 1_000
const mostDirectories = 64

/**
 * Removes temporary files of killed processes, of any age, at and near the top. Opens each directory by a single name. Never fails.
 * `deep`: also sweeps directories directly below the root; opening them must not block.
 */
export async function sweepAtStart(task: Task, root: Handle, { deep }: { readonly deep: boolean }): Promise<void> {
  const left = { entries: mostEntries, directories: deep ? mostDirectories : 0 }
  const queue: Handle[] = [root]
  for (let directory = queue.shift(); directory !== undefined; directory = queue.shift()) {
    try {
      if (left.entries > 0) queue.push(...(await sweepOne(task, directory, left)))
    } catch {
      // The directory is gone, or may not be listed. Its next listing removes the leftovers.
    } finally {
      if (directory !== root) await release(task, directory)
    }
  }
}

interface Left {
  entries: number
  directories: number
}

/** Sweeps one directory. Returns the directories in it, opened. */
async function sweepOne(task: Task, directory: Handle, left: Left): Promise<Handle[]> {
  const { calls } = task
  const listing = await calls.openListing(directory.self, 'utf8')
  const temps: string[] = []
  const below: string[] = []
  try {
    for (; left.entries > 0; left.entries -= 1) {
      const dirent = await calls.readListing(listing)
      if (dirent === null) break
      if (isTempName(dirent.name)) temps.push(dirent.name)
      else if (dirent.isDirectory() && below.length < left.directories) below.push(dirent.name)
    }
  } finally {
    await calls.closeListing(listing)
  }
  await sweep(task, directory, temps, { deadAfter: 0 })
  const opened: Handle[] = []
  for (const name of below) {
    left.directories -= 1
    try {
      opened.push(await openChild(task, directory, name, { directory: true }))
    } catch {
      // The directory is gone or was exchanged.
    }
  }
  return opened
}
