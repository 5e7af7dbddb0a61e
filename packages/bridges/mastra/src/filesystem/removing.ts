import { FileExistsError, IsDirectoryError, NotDirectoryError } from '@mastra/core/workspace'
import type { CopyOptions, RemoveOptions } from '@mastra/core/workspace'
import { isWorkspaceError, paths, type Workspace } from '@ws/core'
import { ifThere } from '@ws/tools/bridge'

import { inMastraWords, toMastraError } from './errors.ts'

export function removeFile(workspace: Workspace, path: string, { force = false }: RemoveOptions = {}): Promise<void> {
  return inMastraWords({ operation: 'deleteFile', path }, async () => {
    const found = await ifThere(workspace.stat(path))
    if (found?.type === 'directory') throw new IsDirectoryError(path)
    // also for a missing file: the workspace checks the rules before it reports the missing file
    await workspace.delete(path, { force })
  })
}

export function removeDirectory(
  workspace: Workspace,
  path: string,
  { recursive = false, force = false }: RemoveOptions = {},
): Promise<void> {
  return inMastraWords({ operation: 'rmdir', path, subject: 'directory' }, async () => {
    const found = await ifThere(workspace.stat(path))
    if (found !== undefined && found.type !== 'directory') throw new NotDirectoryError(path)
    await workspace.delete(path, { recursive, force })
  })
}

/** Makes a directory. Accepts an existing directory, as Mastra's own file systems do. */
export function makeDirectory(
  workspace: Workspace,
  path: string,
  { recursive = true }: { readonly recursive?: boolean } = {},
): Promise<void> {
  return inMastraWords({ operation: 'mkdir', path, subject: 'directory' }, async () => {
    try {
      await workspace.createDirectory(path, { recursive })
    } catch (error) {
      if (!isWorkspaceError(error, 'EEXIST') && !isWorkspaceError(error, 'ENOTDIR')) throw error
      const found = await ifThere(workspace.stat(path, { followLinks: true }))
      if (found?.type === 'directory') return
      if (found !== undefined) throw new FileExistsError(path)
      throw error
    }
  })
}

/** Copies an entry. A directory needs `recursive`, and is merged into an existing directory. */
export async function copyFile(
  workspace: Workspace,
  source: string,
  destination: string,
  { overwrite = true, recursive = false }: CopyOptions = {},
): Promise<void> {
  await transfer(workspace, source, destination, 'copyFile', async () => {
    if (!overwrite) await refuseExisting(workspace, source, destination)
    const from = await workspace.stat(source, { followLinks: true })
    const to = await ifThere(workspace.stat(destination, { followLinks: true }))
    if (from.type === 'directory' && recursive && to?.type === 'directory') {
      await copyInto(workspace, source, destination, overwrite)
    } else {
      await workspace.copy(source, destination, { overwrite, recursive })
    }
  })
}

export async function moveFile(
  workspace: Workspace,
  source: string,
  destination: string,
  { overwrite = true }: CopyOptions = {},
): Promise<void> {
  await transfer(workspace, source, destination, 'moveFile', async () => {
    if (!overwrite) await refuseExisting(workspace, source, destination)
    await workspace.move(source, destination, { overwrite })
  })
}

/** Refuses a copy onto itself, which the workspace would accept or misreport. */
async function refuseExisting(workspace: Workspace, source: string, destination: string): Promise<void> {
  const to = await ifThere(workspace.realPath(destination))
  if (to !== undefined && to === (await ifThere(workspace.realPath(source)))) throw new FileExistsError(destination)
}

/** Copies or moves an entry. Each error names the path that it concerns. */
async function transfer(
  workspace: Workspace,
  source: string,
  destination: string,
  operation: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isDestination =
      isWorkspaceError(error, 'EEXIST') ||
      (isWorkspaceError(error, 'EISDIR') && !(await isDirectory(workspace, source)))
    const path = isDestination ? destination : source
    throw toMastraError(error, { operation, path })
  }
}

async function isDirectory(workspace: Workspace, path: string): Promise<boolean> {
  const found = await workspace.stat(path, { followLinks: true }).catch(() => undefined) // the operation itself reports the error
  return found?.type === 'directory'
}

async function copyInto(workspace: Workspace, source: string, destination: string, overwrite: boolean): Promise<void> {
  const from = await workspace.realPath(source)
  const to = await workspace.realPath(destination)
  // the workspace refuses to copy a directory into itself; copying entry by entry would never end
  if (to.startsWith(from === '/' ? from : `${from}/`)) return void (await workspace.copy(from, to, { recursive: true }))
  for await (const { path, type } of workspace.list(from, { recursive: true })) {
    const target = paths.join(to, paths.relativeTo(path, from))
    if (type === 'directory') await workspace.createDirectory(target)
    else if (overwrite || !(await workspace.exists(target))) await workspace.copy(path, target, { overwrite })
  }
}
