import { isWorkspaceError, paths, quotePath, type Version, type VirtualPath, type WriteResult } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'

export interface PutOptions {
  readonly createOnly?: boolean | undefined
  readonly ifVersion?: Version | undefined
  readonly mode?: number | undefined
}

export interface PutResult extends WriteResult {
  readonly before: Version | undefined
}

const mostTries = 20

/** Writes a file on condition of the version found, so the journal is correct. After a conflict, overwrites the new version. */
export async function putFile(
  call: Call,
  path: VirtualPath,
  content: string,
  { createOnly = false, ifVersion, mode }: PutOptions = {},
): Promise<PutResult> {
  const { workspace, signal } = call
  for (let tries = 1; ; tries += 1) {
    const found = await call.statBehindLinks(path)
    const before = found?.type === 'file' ? found.version : undefined
    if (createOnly && found !== undefined) throw isThere(path, found.type === 'directory')
    if (found !== undefined) refuseUnread(call, path, before)
    const condition = ifVersion ?? before ?? (found === undefined ? 'absent' : undefined)
    try {
      const written = await workspace.write(path, content, { ifVersion: condition, mode, signal })
      record(call, path, before, written.version)
      return { ...written, before }
    } catch (error) {
      if (isWorkspaceError(error, 'ENOTSUP') && ifVersion === undefined && !createOnly) {
        const written = await workspace.write(path, content, { mode, signal })
        record(call, path, before, written.version)
        return { ...written, before }
      }
      if (found === undefined && isWorkspaceError(error, 'ECONFLICT')) await refuseDangling(call, path)
      const lost = isWorkspaceError(error, 'ECONFLICT') && ifVersion === undefined
      if (!lost || tries === mostTries) throw error
    }
  }
}

function record(call: Call, path: VirtualPath, before: Version | undefined, after: Version): void {
  call.session.see(path, after)
  call.record({ change: before === undefined ? 'created' : 'updated', path, before, after })
}

function isThere(path: VirtualPath, isDirectory: boolean): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(path)} exists already`,
    remedy: isDirectory
      ? 'look at the directory, and give a path in it'
      : 'look at it, and choose another path, or change it with `replace`',
    next: isDirectory
      ? { operation: 'list', arguments: { path, depth: 1 } }
      : { operation: 'inspect', arguments: { path } },
    data: { code: 'EEXIST', path },
  })
}

async function refuseDangling(call: Call, path: VirtualPath): Promise<void> {
  const { workspace, signal } = call
  const target = await workspace.readSymlink(path, { signal }).catch((error: unknown) => {
    // not a link, or gone: the next try sees the entry
    if (isWorkspaceError(error)) return undefined
    throw error
  })
  if (target === undefined || (await call.statBehindLinks(path)) !== undefined) return
  const { path: behind } = paths.parse(target, { base: paths.parent(path) })
  const at = typeof behind === 'string' ? quotePath(behind) : 'its target'
  throw new ToolProblem({
    sentence: `${quotePath(path)} is a link that leads nowhere: ${quotePath(target)}`,
    remedy: `nothing was changed; write to ${at}`,
    next: { operation: 'list', arguments: { path: paths.parent(path), depth: 1 } },
    data: { code: 'ENOENT', path },
  })
}

function refuseUnread(call: Call, path: VirtualPath, present: Version | undefined): void {
  if (!call.session.options.requireReadBeforeWrite || present === undefined) return
  const seen = call.session.seen(path)
  if (seen === present) return
  throw new ToolProblem({
    sentence:
      seen === undefined
        ? `${quotePath(path)} exists, and was not read yet`
        : `${quotePath(path)} has changed since it was read`,
    remedy: 'read it first, then write it',
    next: { operation: 'read', arguments: { path } },
    data: { code: 'ECONFLICT', path },
  })
}
