import { extractLines } from '@ai-sdk/provider-utils'
import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { ifThere } from '@ws/tools/bridge'
import type { Experimental_SandboxDirectoryEntry, Experimental_SandboxFileStat, Experimental_SandboxSession } from 'ai'

import { decodeText, encodeText } from './encoding.ts'

type FileMethods = Omit<Experimental_SandboxSession, 'description' | 'run' | 'spawn'>

export function createFileMethods(workspace: Workspace): FileMethods {
  return {
    async readFile({ path, abortSignal: signal }) {
      const found = await ifThere(workspace.readStream(path, { signal }))
      return found === undefined ? null : (ReadableStream.from(found.stream) as ReadableStream<Uint8Array>)
    },
    async readBinaryFile({ path, abortSignal: signal }) {
      const found = await ifThere(workspace.read(path, { signal }))
      return found?.bytes ?? null
    },
    async readTextFile({ path, encoding, startLine, endLine, abortSignal: signal }) {
      const found = await ifThere(workspace.read(path, { signal }))
      if (found === undefined) return null
      const text = decodeText(found.bytes, path, encoding)
      return extractLines({
        text,
        ...(startLine !== undefined && { startLine }),
        ...(endLine !== undefined && { endLine }),
      })
    },
    async writeFile({ path, content, abortSignal: signal }) {
      await workspace.write(path, content, { signal })
    },
    async writeBinaryFile({ path, content, abortSignal: signal }) {
      await workspace.write(path, content, { signal })
    },
    async writeTextFile({ path, content, encoding, abortSignal: signal }) {
      await workspace.write(path, encodeText(content, path, encoding), { signal })
    },
    stat: (options) => statOf(workspace, options),
    listDirectory: (options) => listDirectory(workspace, options),
    deleteFile: (options) => deleteFile(workspace, options),
  }
}

interface PathOptions {
  readonly path: string
  readonly abortSignal?: AbortSignal | undefined
}

async function statOf(
  workspace: Workspace,
  { path, abortSignal: signal }: PathOptions,
): Promise<Experimental_SandboxFileStat | null> {
  const found = await ifThere(workspace.stat(path, { followLinks: true, signal }))
  if (found === undefined) return null
  const { type, size } = found
  return { type: type === 'file' || type === 'directory' ? type : 'other', size }
}

async function listDirectory(
  workspace: Workspace,
  { path, abortSignal: signal }: PathOptions,
): Promise<Experimental_SandboxDirectoryEntry[] | null> {
  const entries: Experimental_SandboxDirectoryEntry[] = []
  try {
    for await (const { name, type } of workspace.list(path, { signal })) entries.push({ name, type })
    return entries
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return null
    // return `null` only for a missing path: an entry of another type is an error
    if (!isWorkspaceError(error, 'ENOTDIR') || (await workspace.exists(path, { followLinks: true, signal })))
      throw error
    return null
  }
}

async function deleteFile(workspace: Workspace, { path, abortSignal: signal }: PathOptions): Promise<boolean> {
  const found = await ifThere(workspace.stat(path, { signal }))
  if (found === undefined) return false
  if (found.type === 'directory') {
    throw new WorkspaceError({
      code: 'EISDIR',
      operation: 'deleteFile',
      path,
      reason: 'is a directory',
      remedy: 'list what it holds; only files and links are deleted',
    })
  }
  return (await ifThere(workspace.delete(path, { signal }).then(() => true))) ?? false
}
