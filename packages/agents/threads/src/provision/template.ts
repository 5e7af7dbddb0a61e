import { posix } from 'node:path'

import { isWorkspaceError, paths, WorkspaceError, type Workspace } from '@ws/core'
import type { Entry, StorageAdapter } from '@ws/core/adapter'

import { writeOnce } from './files.ts'

export async function checkTemplate(files: StorageAdapter): Promise<void> {
  for await (const entry of files.list(paths.mountRoot, { recursive: true })) {
    if (entry.type === 'other' || entry.unreachable)
      throw wrong(entry, 'cannot be copied: it is not a file, a directory or a link')
    if (entry.type !== 'symlink') continue
    const target = (await files.readSymlink?.(entry.path)) ?? '/'
    if (leadsOut(entry.path, target)) throw wrong(entry, 'is a link that leads out of the template')
  }
}

export async function copyTemplate(files: StorageAdapter, workspace: Workspace): Promise<void> {
  for await (const { path, type } of files.list(paths.mountRoot, { recursive: true })) {
    const place = paths.join(workspace.root, path)
    if (type === 'directory') await workspace.createDirectory(place)
    else if (type === 'symlink') await copyLink(files, path, workspace)
    else if (type === 'file' && !(await workspace.exists(place))) {
      const { stream, stat } = await files.readStream(path)
      await workspace.write(place, stream, stat.mode === undefined ? {} : { mode: stat.mode })
    }
  }
}

async function copyLink(files: StorageAdapter, path: Entry['path'], workspace: Workspace): Promise<void> {
  const target = (await files.readSymlink?.(path)) ?? ''
  const place = paths.join(workspace.root, path)
  try {
    await workspace.createSymlink(place, target)
  } catch (error) {
    if (isWorkspaceError(error, 'EEXIST')) return
    if (!isWorkspaceError(error, 'ENOTSUP')) throw error
    // without links in the store, copy the file that the link leads to, if the template has that file
    const { bytes } = await files.read(posix.join(posix.dirname(path), target) as Entry['path'])
    await writeOnce(workspace, place, bytes)
  }
}

function leadsOut(path: string, target: string): boolean {
  if (target.startsWith('/')) return true
  let depth = path.split('/').length - 2
  for (const name of target.split('/')) {
    if (name === '..') depth -= 1
    else if (name !== '' && name !== '.') depth += 1
    if (depth < 0) return true
  }
  return false
}

function wrong({ path }: Entry, reason: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation: 'template',
    path,
    reason,
    remedy: 'take it out of the template',
  })
}
