import type { SandboxDirectoryEntry } from '@openai/agents-core/sandbox'
import { isWorkspaceError } from '@ws/core'
import type { Stat, Workspace, WorkspaceEntry } from '@ws/core'

import { shownPath } from './paths.ts'

/** The status of the entry behind all links; `undefined` for a missing or hidden path. */
export async function statBehindLinks(workspace: Workspace, path: string): Promise<Stat | undefined> {
  try {
    return await workspace.stat(path, { followLinks: true })
  } catch (error) {
    if (isWorkspaceError(error)) return undefined
    throw error
  }
}

export async function readBytes(workspace: Workspace, path: string, maxBytes: number | undefined): Promise<Uint8Array> {
  const range =
    maxBytes === undefined || !Number.isFinite(maxBytes)
      ? undefined
      : { offset: 0, length: Math.max(0, Math.floor(maxBytes)) }
  return (await workspace.read(path, { range })).bytes
}

export async function listDirectory(workspace: Workspace, path: string): Promise<SandboxDirectoryEntry[]> {
  const entries: SandboxDirectoryEntry[] = []
  for await (const entry of workspace.list(path)) {
    entries.push({ name: entry.name, path: shownPath(workspace, entry.path), type: await typeOf(workspace, entry) })
  }
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1))
}

async function typeOf(workspace: Workspace, { type, path }: WorkspaceEntry): Promise<SandboxDirectoryEntry['type']> {
  const found = type === 'symlink' ? (await statBehindLinks(workspace, path))?.type : type
  return found === 'directory' ? 'dir' : found === 'file' ? 'file' : 'other'
}
