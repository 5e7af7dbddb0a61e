import { quotePath, WorkspaceError } from '@ws/core'
import type { ExplainRequest, Version, VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'

export type FileChange =
  | { readonly type: 'create'; readonly path: VirtualPath; readonly content: Uint8Array }
  | {
      readonly type: 'update'
      readonly path: VirtualPath
      /** Makes the new content, or throws; may be called again. Without it, the content remains. */
      readonly change?: ((bytes: Uint8Array) => Uint8Array) | undefined
      readonly moveTo?: VirtualPath | undefined
    }
  | { readonly type: 'delete'; readonly path: VirtualPath }

export type PlannedChange =
  | {
      readonly type: 'create'
      readonly path: VirtualPath
      readonly content: Uint8Array
      /** The missing directories above the path, the outermost first. */
      readonly parents: readonly VirtualPath[]
    }
  | {
      readonly type: 'update'
      readonly path: VirtualPath
      readonly before: Version
      readonly old: Uint8Array
      readonly content: Uint8Array
    }
  | {
      readonly type: 'move'
      readonly path: VirtualPath
      readonly to: VirtualPath
      readonly before: Version
      readonly parents: readonly VirtualPath[]
    }
  | {
      readonly type: 'delete'
      readonly path: VirtualPath
      readonly before: Version
      readonly old: { readonly bytes: Uint8Array; readonly mode?: number | undefined } | { readonly target: string }
    }

/** Checks rights, existence, duplicate paths and new content, without changes. Deletions come last: they are hardest to undo. */
export async function planFiles(call: Call, changes: readonly FileChange[]): Promise<readonly PlannedChange[]> {
  const named = new Set<VirtualPath>()
  const claim = (path: VirtualPath): void => {
    if (named.has(path)) throw namedTwice(path)
    named.add(path)
  }
  const first: PlannedChange[] = []
  const deletions: PlannedChange[] = []
  const gone = new Set<VirtualPath>()
  for (const { type, path } of changes) if (type === 'delete') gone.add(path)
  for (const change of changes) {
    if (change.type === 'create') first.push(await planCreation(call, change, { claim, gone }))
    else if (change.type === 'update') first.push(...(await planUpdate(call, change, claim)))
    else deletions.push(await planDeletion(call, change.path, claim))
  }
  // Delete a file first if another change makes a directory of its name.
  const makesWay = ({ path }: PlannedChange): boolean => first.some((other) => other.path.startsWith(`${path}/`))
  return [...deletions.filter(makesWay), ...first, ...deletions.filter((one) => !makesWay(one))]
}

type Claim = (path: VirtualPath) => void

async function planCreation(
  call: Call,
  { path, content }: Extract<FileChange, { type: 'create' }>,
  { claim, gone }: { readonly claim: Claim; readonly gone: ReadonlySet<VirtualPath> },
): Promise<PlannedChange> {
  // For a path below a file that this call deletes, the write itself checks the rules later.
  const isInWay = [...gone].some((other) => path.startsWith(`${other}/`))
  claim(isInWay ? path : await admit(call, 'write', path))
  if ((await call.statBehindLinks(path)) !== undefined) throw isThere(path, 'read it, and update it instead')
  return { type: 'create', path, content, parents: await missingParents(call, path, gone) }
}

async function planUpdate(
  call: Call,
  { path, change, moveTo }: Extract<FileChange, { type: 'update' }>,
  claim: Claim,
): Promise<PlannedChange[]> {
  const { workspace, signal } = call
  const planned: PlannedChange[] = []
  const at = await admit(call, 'read', path)
  claim(at)
  const { bytes, stat } = await workspace.read(at, { signal })
  if (change !== undefined) {
    await admit(call, 'write', at)
    planned.push({ type: 'update', path: at, before: stat.version, old: bytes, content: change(bytes) })
  }
  if (moveTo === undefined) return planned
  await admit(call, 'move', path)
  claim(await admit(call, 'write', moveTo))
  if ((await call.statBehindLinks(moveTo)) !== undefined) throw isThere(moveTo, 'read it, or choose another path')
  const { version } = await workspace.stat(path, { signal })
  const parents = await missingParents(call, moveTo)
  return [...planned, { type: 'move', path, to: moveTo, before: version, parents }]
}

async function planDeletion(call: Call, path: VirtualPath, claim: Claim): Promise<PlannedChange> {
  const { workspace, signal } = call
  const at = await admit(call, 'delete', path)
  claim(at)
  const { type, version, mode } = await workspace.stat(at, { signal })
  const old =
    type === 'symlink'
      ? { target: await workspace.readSymlink(at, { signal }) }
      : { bytes: (await workspace.read(at, { signal, ifVersion: version })).bytes, mode }
  return { type: 'delete', path: at, before: version, old }
}

/** @returns the resolved path @throws WorkspaceError where the policy refuses */
async function admit(call: Call, operation: ExplainRequest['operation'], path: VirtualPath): Promise<VirtualPath> {
  const verdict = await call.workspace.explain({ operation, path })
  const { effect, resolvedPath, code = 'EACCES', reason = 'is refused', rule, remedy } = verdict
  if (effect === 'allow') return resolvedPath
  throw new WorkspaceError({ code, operation, path: resolvedPath, reason, rule, remedy })
}

async function missingParents(
  call: Call,
  path: VirtualPath,
  gone: ReadonlySet<VirtualPath> = new Set(),
): Promise<readonly VirtualPath[]> {
  const missing: VirtualPath[] = []
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    const parent = path.slice(0, slash) as VirtualPath
    if (!gone.has(parent) && (await call.statBehindLinks(parent)) !== undefined) break
    missing.unshift(parent)
  }
  return missing
}

function isThere(path: VirtualPath, remedy: string): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(path)} exists already`,
    remedy: `nothing was changed; ${remedy}`,
    next: { operation: 'read', arguments: { path } },
    data: { code: 'EEXIST', path },
  })
}

function namedTwice(path: VirtualPath): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(path)} is named twice`,
    remedy: 'nothing was changed; join the changes of one file into one section',
    next: { operation: 'read', arguments: { path } },
    data: { code: 'EINVAL', path },
  })
}
