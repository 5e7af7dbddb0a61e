import { paths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { findProgram, startProcess } from '@ws/sandbox'

import { release } from '../confine/handle.ts'
import { openDirectory } from '../confine/open.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { failure, translate } from '../errors.ts'
import { readingDirectory } from '../host/constants.ts'
import { under } from '../host/name.ts'

/** Makes the directories above a new file survive a power cut. */
export async function syncAbove(task: Task, target: Target): Promise<void> {
  let path: MountPath = target.path
  do {
    path = paths.parent(path)
    await syncDirectory(task, path)
  } while (path !== paths.mountRoot)
}

async function syncDirectory(task: Task, path: MountPath): Promise<void> {
  try {
    const directory = await openDirectory(task, targetOf(task, path))
    try {
      const fd = await task.calls.open(under(directory.self, '.'), readingDirectory)
      try {
        await task.pooled.fsync(fd)
      } finally {
        await task.calls.close(fd)
      }
    } finally {
      await release(task, directory)
    }
  } catch (error) {
    const { operation } = task
    const where = { operation, path }
    // the file is written already, and a link that has taken this path must not be followed
    throw failure(where, 'EIO', 'could not be synced to the disk, though the file in it is written', {
      remedy: 'write it again, or without `durable`',
      native: translate(error, where),
    })
  }
}

const rootDescriptor = 3
const cannotSync = 'Node has no call for it, and `sync --file-system` of the GNU coreutils'

/** Writes buffered data of a tree's file systems to disk, with syncfs(2). */
export async function syncTree(task: Task): Promise<void> {
  const { tree, signal, operation } = task
  await tree.assertThere(task.calls, task)
  const program = await findProgram('sync', { versionArguments: null, signal })
  if (program === undefined) {
    throw failure(task, 'ENOTSUP', `cannot be synced to the disk here: ${cannotSync} is missing`, {
      remedy: 'install the coreutils, or write single files with `durable: true`',
    })
  }
  const root = tree.verified ? `/proc/self/fd/${rootDescriptor}` : tree.root
  const running = startProcess({
    argv: [program.path, '-f', root, ...tree.mounts.all()],
    env: { LC_ALL: 'C' },
    extraFds: tree.verified ? new Map([[rootDescriptor, tree.fd]]) : undefined,
    signal,
    operation,
  })
  const { exitCode, stderr } = await running.wait()
  if (exitCode === 0) return
  const native = new Error(stderr.text)
  if (/unrecognized|invalid option/.test(stderr.text)) {
    throw failure(task, 'ENOTSUP', `cannot be synced to the disk here: ${cannotSync} is another program`, { native })
  }
  throw failure(task, 'EIO', 'could not be synced to the disk, nor was every mount below it', {
    remedy: 'see `native` for the cause; what was written last may not survive a power cut',
    native,
  })
}
