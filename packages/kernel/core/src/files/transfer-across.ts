import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { CopyOptions, Stat, TransferResult, Version } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import type { PartialProgress } from '../errors.ts'
import { joinPath, relativeTo } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import type { Context } from '../calls/context.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { Located } from '../mount/gate.ts'
import { list } from './listing.ts'
import type { Pair } from './transfer.ts'
import { asArgument } from '../mount/links.ts'

export interface AcrossWork {
  readonly context: Context
  readonly pair: Pair
  readonly sourceAdapter: StorageAdapter
  readonly destinationAdapter: StorageAdapter
  readonly options: CopyOptions
}

interface Progress {
  readonly kind: 'move' | 'copy'
  readonly completed: VirtualPath[]
  count: number
  current: VirtualPath
  /** The current place of all entries, for the error message. */
  state: string
}

const reported = 1000

export async function copyAcross(work: AcrossWork): Promise<TransferResult> {
  const progress = startProgress('copy', work.pair)
  const { result } = await copyTree(work, progress)
  return result
}

/** Copies all entries, and only then deletes the source, so that a failure loses no entry. */
export async function moveAcross(work: AcrossWork): Promise<TransferResult> {
  const { pair, sourceAdapter, options } = work
  const progress = startProgress('move', pair)
  const { result, stat } = await copyTree(work, progress)
  progress.state = `everything was copied to \`${pair.destination.virtual}\`; the source is still there, at least in part: delete it when nothing there is newer`
  progress.current = pair.source.virtual
  try {
    const ifVersion =
      stat.type === 'file' && sourceAdapter.capabilities.conditionalDelete !== 'none' ? stat.version : undefined
    await sourceAdapter.delete(pair.source.path, { recursive: true, ifVersion, signal: options.signal })
  } catch (error) {
    throw failed(error, pair.source, progress, options.signal)
  }
  return result
}

function startProgress(kind: Progress['kind'], { source, destination }: Pair): Progress {
  return {
    kind,
    completed: [],
    count: 0,
    current: source.virtual,
    state: `the source is unchanged; the completed part is below \`${destination.virtual}\` and can be deleted there`,
  }
}

async function copyTree(
  { context, pair, sourceAdapter, destinationAdapter, options }: AcrossWork,
  progress: Progress,
): Promise<{ result: TransferResult; stat: Stat }> {
  const { source, destination } = pair
  const { signal } = options
  const { kind } = progress
  const stat = await fromSide('source', source, kind, signal, () => sourceAdapter.stat(source.path, { signal }))
  if (options.ifSource !== undefined && options.ifSource !== stat.version) {
    throw virtualError({
      code: 'ECONFLICT',
      operation: kind,
      path: source.virtual,
      reason: 'was changed meanwhile: it has another version',
      remedy: 'look at it again, then decide',
    })
  }
  if (stat.type === 'directory' && options.recursive !== true) {
    throw virtualError({
      code: 'EISDIR',
      operation: kind,
      path: source.virtual,
      reason: 'is a directory',
      remedy: 'pass `recursive: true`',
    })
  }
  if (stat.type !== 'directory') {
    const result = await fromSide('destination', destination, kind, signal, () =>
      copyEntry({
        context,
        source: source.virtual,
        adapter: destinationAdapter,
        path: destination.path,
        stat,
        options,
      }),
    )
    progress.count = 1
    progress.completed.push(destination.virtual)
    return { result, stat }
  }

  await fromSide('destination', destination, kind, signal, () =>
    makeDirectory(destinationAdapter, destination.path, options),
  )
  note(progress, destination.virtual)
  try {
    for await (const entry of list(context, source.virtual, { recursive: true, signal })) {
      const inside = relativeTo(entry.path, source.virtual)
      const target = joinPath(destination.virtual, inside)
      progress.current = entry.path
      if (entry.unreachable === true) throw unreachableError(kind, entry.path) // @defence a directory that no path can name: nothing that no path can name
      context.gate.admit(kind, target, 'write', entry.size)
      const at = destination.mount?.at ?? ('/' as VirtualPath)
      const path = relativeTo(target, at)
      if (entry.type === 'directory') {
        context.gate.admit('list', entry.path, 'read')
        await makeDirectory(destinationAdapter, path, { ...options, overwrite: true })
      } else {
        await copyEntry({ context, source: entry.path, adapter: destinationAdapter, path, stat: entry, options })
      }
      note(progress, target)
    }
  } catch (error) {
    throw failed(error, destination, progress, signal)
  }
  return { result: {}, stat }
}

/** Returns the error for an entry that no path can name. Entries below it are not listed, so a move would lose them. */
function unreachableError(operation: Progress['kind'], path: VirtualPath): Error {
  return virtualError({
    code: 'EINVAL',
    operation,
    path,
    reason: 'has a name that is not UTF-8, or a path that is too long, so it cannot be copied to another mount',
    remedy: 'give it a shorter name in UTF-8 by a command, or keep it in its mount',
  })
}

function note(progress: Progress, path: VirtualPath): void {
  progress.count += 1
  if (progress.completed.length < reported) progress.completed.push(path)
}

/** Runs work. A `LinkSignal` gets the argument `source` or `destination`. */
async function fromSide<Result>(
  side: 'source' | 'destination',
  { mount, virtual }: Located,
  operation: string,
  signal: AbortSignal | undefined,
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await body()
  } catch (error) {
    if (error instanceof LinkSignal) throw asArgument(error, side)
    throw translateError(error, { operation, at: mount?.at, path: virtual, signal })
  }
}

interface EntryCopy {
  readonly context: Context
  readonly source: VirtualPath
  readonly adapter: StorageAdapter
  readonly path: MountPath
  readonly stat: {
    readonly type: Stat['type']
    readonly mode?: number | undefined
    readonly version?: Version | undefined
  }
  readonly options: CopyOptions
}

async function copyEntry({ context, source, adapter, path, stat, options }: EntryCopy): Promise<TransferResult> {
  const { signal, overwrite = false, parents = true } = options
  const from = context.gate.admit('copy', source, 'read')
  const reader = from.mount === undefined ? undefined : await context.open(from.mount)
  if (reader === undefined) return {}
  if (stat.type === 'symlink') {
    const target = await readTarget(reader, from.path, source)
    if (adapter.createSymlink === undefined) {
      throw virtualError({
        code: 'ENOTSUP',
        operation: 'copy',
        path: source,
        reason: 'is a link, and the destination holds no links',
        remedy: 'leave it out, or copy what it leads to',
      })
    }
    if (overwrite) await adapter.delete(path, { force: true, signal })
    await adapter.createSymlink(path, target, { signal })
    return {}
  }
  if (stat.type === 'other') {
    throw virtualError({
      code: 'EINVAL',
      operation: 'copy',
      path: source,
      reason: 'is a FIFO, a socket or a device, which cannot be copied',
      remedy: 'leave it out',
    })
  }
  const { stream, stat: read } = await reader.readStream(from.path, { ifVersion: stat.version, signal })
  const ifVersion = options.ifDestination ?? (overwrite ? undefined : 'absent')
  const mode = read.mode === undefined ? {} : { mode: read.mode }
  try {
    const { version } = await adapter.write(path, stream, { ...mode, parents, signal, ifVersion })
    return { version }
  } catch (error) {
    if (isWorkspaceError(error, 'ECONFLICT') && options.ifDestination === undefined && !overwrite) {
      throw existsError(path, context, adapter)
    }
    throw error
  } finally {
    await stream.return?.()
  }
}

async function readTarget(reader: StorageAdapter, path: MountPath, source: VirtualPath): Promise<string> {
  if (reader.readSymlink !== undefined) return reader.readSymlink(path)
  throw virtualError({
    code: 'ENOTSUP',
    operation: 'copy',
    path: source,
    reason: 'is a link that cannot be read',
    remedy: 'leave it out',
  })
}

function existsError(path: MountPath, { mounts }: Context, adapter: StorageAdapter): Error {
  const at = mounts.find((mount) => mount.adapter === adapter)?.at ?? ('/' as VirtualPath)
  return virtualError({
    code: 'EEXIST',
    operation: 'copy',
    path: joinPath(at, path),
    reason: 'exists already',
    remedy: 'choose another destination, or pass `overwrite: true`',
  })
}

async function makeDirectory(adapter: StorageAdapter, path: MountPath, options: CopyOptions): Promise<void> {
  const { overwrite = false, parents = true, signal } = options
  if (path === '/') return
  if (parents && !overwrite) {
    const slash = path.lastIndexOf('/')
    if (slash > 0) await adapter.createDirectory(path.slice(0, slash) as MountPath, { recursive: true, signal })
  }
  try {
    await adapter.createDirectory(path, { recursive: overwrite && parents, signal })
  } catch (error) {
    if (!overwrite || !isWorkspaceError(error, 'EEXIST')) throw error
    if ((await adapter.stat(path, { signal })).type !== 'directory') throw error
  }
}

function failed(
  error: unknown,
  { mount, virtual }: Located,
  progress: Progress,
  signal: AbortSignal | undefined,
): unknown {
  const cause =
    error instanceof LinkSignal
      ? undefined
      : translateError(error, { operation: progress.kind, at: mount?.at, path: virtual, signal })
  if (cause !== undefined && !isWorkspaceError(cause)) return cause
  const partial: PartialProgress = {
    completed: progress.completed,
    completedCount: progress.count,
    failedAt: progress.current,
    state: progress.state,
  }
  return virtualError({
    code: cause?.code ?? 'EBUSY',
    operation: progress.kind,
    path: cause?.path ?? progress.current,
    reason: `${cause?.reason ?? 'was changed meanwhile'} (stopped after ${progress.count} entries: ${progress.state})`,
    rule: cause?.rule,
    remedy: cause?.remedy,
    partial,
    native: error,
  })
}
