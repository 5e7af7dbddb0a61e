import { constants } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'

import { paths, WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'

import { hasProc } from '../confine/handle.ts'
import { nativeCode, translate } from '../errors.ts'
import { calls } from '../host/blocking.ts'
import { pathOfDescriptor } from '../host/calls.ts'
import { ownerOfNew } from './owner.ts'

const operation = 'createLocalAdapter'

/** Makes a missing root directory, and gives it to its owner. @throws WorkspaceError `ENOWORKSPACE` without its parent */
export async function createRoot(root: string, owner: Owner | undefined): Promise<void> {
  try {
    const recipient = ownerOfNew(owner, await calls.lstat(dirname(root)))
    await calls.mkdir(root, recipient === undefined ? 0o777 : 0o700)
    if (recipient !== undefined) await give(root, recipient)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'EEXIST') return // opening the entry reports whether it is a directory
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw translate(error, { operation, path: paths.mountRoot })
    throw new WorkspaceError({
      code: 'ENOWORKSPACE',
      operation,
      reason: 'the directory in which the root is to be created does not exist',
      remedy: 'create that directory first, or name another root',
      native: error,
    })
  }
}

async function give(root: string, { uid, gid }: Owner): Promise<void> {
  const fd = await calls.open(root, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const status = await calls.fstat(fd)
    const entries = await readdir(hasProc() ? pathOfDescriptor(fd) : root)
    // another directory of root may have taken this path, and must not be given away
    if (Number(status.uid) !== 0 || (Number(status.mode) & 0o777) !== 0o700 || entries.length > 0) return
    await calls.fchown(fd, uid, gid)
    await calls.fchmod(fd, 0o755)
  } finally {
    await calls.close(fd)
  }
}
