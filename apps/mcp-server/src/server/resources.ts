import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type McpServer,
} from '@modelcontextprotocol/server'
import { isWorkspaceError, type WorkspaceEntry, type Workspace } from '@ws/core'
import { showName } from '@ws/core/executor'
import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Source } from '../source/source.ts'
import { pathOf, uriOf, uriTemplate } from '../source/uris.ts'

/** Limit of entries in a listing. `maxProposed`: limit of proposals for a path. */
const maxListed = 500
const maxProposed = 100
/** Maximum bytes of a resource, because the event loop waits while a resource is converted. Tools read larger files in parts. */
const maxBytes = 1024 * 1024

/** Offers files as resources: a list of top-level files, a template for all files, and proposals of paths. */
export function addResources(server: McpServer, { opened: { workspace }, reads }: Source): void {
  const template = new ResourceTemplate(uriTemplate, {
    list: async () => ({ resources: await listed(workspace) }),
    complete: { path: (value) => proposals(workspace, value) },
  })
  const config = { title: 'Files', description: 'Every file of the workspace, by its path.' }
  server.registerResource('files', template, config, async (uri) => {
    return reads.run(async () => {
      // lets the previous answer complete before this read
      await nextTurn()
      return { contents: [await read(workspace, uri.href)] }
    })
  })
}

async function listed(workspace: Workspace) {
  const entries: WorkspaceEntry[] = []
  for await (const entry of workspace.list(workspace.root, { recursive: true, maxDepth: 2 })) {
    if (entry.type === 'file') entries.push(entry)
    if (entries.length === maxListed) break
  }
  return entries
    .map(({ path, name }) => ({ uri: uriOf(path), name: showName(name), title: showName(path) }))
    .toSorted(byUri)
}

const byUri = (a: { readonly uri: string }, b: { readonly uri: string }): number => (a.uri < b.uri ? -1 : 1)

/** Proposes paths that begin with a text, without the leading slash. */
async function proposals(workspace: Workspace, value: string): Promise<string[]> {
  const cut = value.lastIndexOf('/') + 1
  const [directory, start] = [`/${value.slice(0, cut)}`, value.slice(cut)]
  const found: string[] = []
  try {
    for await (const { path, name, type } of workspace.list(directory)) {
      if (name.startsWith(start)) found.push(`${path.slice(1)}${type === 'directory' ? '/' : ''}`)
      if (found.length === maxProposed) break
    }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
  }
  return found
}

async function read(workspace: Workspace, uri: string) {
  const path = pathOf(uri)
  if (path === undefined) throw new ResourceNotFoundError(uri)
  try {
    const { bytes } = await workspace.read(path, { maxBytes })
    return { uri, ...contentOf(bytes) }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') throw new ResourceNotFoundError(uri)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, error.toJSON())
  }
}

function contentOf(bytes: Uint8Array) {
  try {
    return { mimeType: 'text/plain', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    return { mimeType: 'application/octet-stream', blob: Buffer.from(bytes).toString('base64') }
  }
}
