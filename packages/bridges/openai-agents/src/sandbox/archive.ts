import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { resolveSandboxArchiveLimits, SandboxArchiveError } from '@openai/agents-core/sandbox'
import type { SandboxArchiveLimits, WorkspaceArchiveData } from '@openai/agents-core/sandbox'
import { paths, type VirtualPath, type Workspace } from '@ws/core'
import { fileTimes } from '@ws/core/adapter'
import { extract, pack } from 'tar-stream'

import { shownPath } from './paths.ts'

/** Limit of bytes of an archive, which is in memory as a whole. */
const largestArchive = 1024 ** 3
/** Size in bytes of the blocks that end an archive. */
const endBytes = 1024

/** A tar file of the root's tree with modes, times and links, without other mounts and denied entries. */
export async function packWorkspace(workspace: Workspace, unsaved: readonly VirtualPath[]): Promise<Uint8Array> {
  const archive = pack()
  const filled = addEntries(workspace, unsaved, archive).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error as Error),
  )
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of archive as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > largestArchive) {
      throw new SandboxArchiveError(
        `the archive of the workspace exceeds ${largestArchive} bytes; mark large directories of the manifest as ephemeral`,
      )
    }
    chunks.push(chunk)
  }
  await filled
  return Buffer.concat(chunks)
}

async function addEntries(
  workspace: Workspace,
  unsaved: readonly VirtualPath[],
  archive: ReturnType<typeof pack>,
): Promise<void> {
  const { root } = workspace
  for await (const entry of workspace.list(root, { recursive: true, details: true, exclude: unsaved })) {
    const { path, type, mode, modifiedAt, unreachable } = entry
    if (unreachable === true || unsaved.some((place) => paths.isWithin(path, place))) continue
    const { effect } = await workspace.explain({ operation: type === 'directory' ? 'list' : 'read', path })
    if (effect === 'deny' && type !== 'symlink') continue
    const header = {
      name: shownPath(workspace, path),
      ...(mode !== undefined && { mode }),
      ...(modifiedAt !== undefined && { mtime: fileTimes.forTar(modifiedAt) }),
    }
    if (type === 'directory') archive.entry({ ...header, type: 'directory' })
    else if (type === 'symlink') {
      archive.entry({ ...header, type: 'symlink', linkname: entry.target ?? (await workspace.readSymlink(path)) })
    } else if (type === 'file') {
      const { stat, stream } = await workspace.readStream(path)
      await pipeline(Readable.from(stream), archive.entry({ ...header, type: 'file', size: stat.size }))
    }
  }
}

interface Member {
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink'
  readonly mode: number | undefined
  readonly target: string
  readonly bytes: Uint8Array
}

/** Reads the members of an archive. @throws SandboxArchiveError beyond the limits, and for names that lead out */
export async function readArchive(
  data: WorkspaceArchiveData,
  limits: SandboxArchiveLimits | null | undefined,
): Promise<Member[]> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)
  const { maxInputBytes, maxExtractedBytes, maxMembers } = resolveSandboxArchiveLimits(limits) ?? {}
  refuseAbove('input size', bytes.length, maxInputBytes)
  if (!isWhole(bytes)) throw notWhole()
  const members: Member[] = []
  let extracted = 0
  const entries = extract()
  const fed = pipeline(Readable.from([bytes]), entries)
  fed.catch(() => undefined) // the loop throws the same error
  try {
    for await (const entry of entries) {
      const { name, type, linkname, mode, size } = entry.header
      extracted += size
      refuseAbove('member count', members.length + 1, maxMembers, name)
      refuseAbove('extracted size', extracted, maxExtractedBytes, name)
      const chunks: Uint8Array[] = []
      for await (const chunk of entry as AsyncIterable<Uint8Array>) chunks.push(chunk)
      const path = name.replace(/^(?:\.\/)+/u, '').replace(/\/$/u, '')
      if (path === '' || path === '.') continue
      members.push({
        path: checkName(path),
        type: checkType(path, type),
        mode: mode === undefined ? undefined : mode & 0o777,
        target: linkname ?? '',
        bytes: Buffer.concat(chunks),
      })
    }
    await fed
  } catch (error) {
    if (error instanceof SandboxArchiveError) throw error
    throw notWhole()
  }
  return members
}

function notWhole(): SandboxArchiveError {
  return new SandboxArchiveError('the archive is not a tar file, or ends too early; pass what `persistWorkspace` gave')
}

/** Throws above a limit. The error has the SDK's message and fields, then our message. */
function refuseAbove(what: string, actual: number, limit: number | null | undefined, member?: string): void {
  if (limit === null || limit === undefined || actual <= limit) return
  const details = { reason: `archive ${what} exceeds limit`, limit, actual, ...(member !== undefined && { member }) }
  throw new SandboxArchiveError(
    `Workspace archive ${what} exceeds limit. It is ${actual}, above the limit of ${limit}; raise \`archiveLimits\``,
    details,
  )
}

function checkName(path: string): string {
  const isPlain = !path.startsWith('/') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  if (isPlain && !path.includes('\0')) return path
  throw new SandboxArchiveError(`the member \`${path}\` of the archive would lie outside the workspace; take it out`)
}

function checkType(path: string, type: string | null | undefined): Member['type'] {
  if (type === 'directory' || type === 'symlink') return type
  if (type === 'file' || type === 'contiguous-file') return 'file'
  throw new SandboxArchiveError(
    `the member \`${path}\` of the archive is a \`${type ?? 'nameless entry'}\`; take it out`,
  )
}

/** True if two blocks of zeros end the tar file. An empty or truncated archive would empty the workspace. */
function isWhole(bytes: Uint8Array): boolean {
  return bytes.length >= endBytes && bytes.subarray(-endBytes).every((byte) => byte === 0)
}

/** Replaces the root's tree. Keeps the `unsaved` places, which no archive contains. */
export async function unpackInto(
  workspace: Workspace,
  members: readonly Member[],
  unsaved: readonly VirtualPath[],
): Promise<void> {
  const at = (path: string): VirtualPath => `${workspace.root === '/' ? '' : workspace.root}/${path}` as VirtualPath
  const stays = (path: VirtualPath): boolean =>
    unsaved.some((place) => paths.isWithin(path, place) || paths.isWithin(place, path))
  await clear(workspace, workspace.root, unsaved)
  for (const { path, type, mode, target, bytes } of members) {
    const place = at(path)
    if (unsaved.some((one) => paths.isWithin(place, one))) continue
    if (type === 'directory') {
      if (!stays(place) || !(await workspace.exists(place))) await workspace.createDirectory(place)
    } else if (type === 'symlink') await workspace.createSymlink(place, target)
    else await workspace.write(place, bytes, { mode })
  }
}

/** Deletes everything but the unsaved places and their parents. */
async function clear(workspace: Workspace, directory: VirtualPath, unsaved: readonly VirtualPath[]): Promise<void> {
  const entries = []
  for await (const entry of workspace.list(directory)) entries.push(entry)
  for (const { path, type, unreachable } of entries) {
    if (unreachable === true || unsaved.includes(path)) continue
    if (unsaved.some((place) => paths.isWithin(place, path))) {
      if (type === 'directory') await clear(workspace, path, unsaved)
    } else await workspace.delete(path, { recursive: true })
  }
}
