import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { ByteRange, ReadResult, ReadStreamResult, SignalOption, Stat } from '../contract/file-types.ts'
import { checkReadSize } from '../adapter/failures.ts'
import { isWorkspaceError } from '../errors.ts'
import type { FileOperation } from '../contract/operations.ts'
import { perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import type { ParsedPath, VirtualPath } from '../path/virtual-path.ts'
import type {
  LastBytes,
  ReadLinesOptions,
  ReadLinesResult,
  WorkspaceReadOptions,
  WorkspaceReadStreamOptions,
  WorkspaceStatOptions,
} from '../contract/file-door.ts'
import type { Located } from '../mount/gate.ts'
import { checkMethod } from '../calls/method-options.ts'
import { readEnd } from './ends.ts'
import { readLastLines } from './last-lines.ts'
import { readWindow } from './lines.ts'
import { decodeText } from './text.ts'
import { notDirectoryError } from '../mount/walk.ts'

const syntheticStat: Stat = { type: 'directory', size: 0, version: 'synthetic' }

export async function stat(context: Context, path: string, options: WorkspaceStatOptions = {}): Promise<Stat> {
  checkMethod('stat', 'stat', options)
  return (await statAt(context, 'stat', path, options)).found
}

export async function realPath(context: Context, path: string, options: SignalOption = {}): Promise<VirtualPath> {
  checkMethod('signal', 'realPath', options)
  return (await statAt(context, 'realPath', path, { ...options, followLinks: true })).at
}

function statAt(
  context: Context,
  method: 'stat' | 'realPath',
  path: string,
  { followLinks = false, signal }: WorkspaceStatOptions,
): Promise<{ readonly at: VirtualPath; readonly found: Stat }> {
  return perform(context, { operation: method, path, signal }, (parsed, trace) =>
    context.walker.run(
      { operation: 'stat', need: 'read', followLast: followLinks, signal, trace },
      parsed.path,
      async ({ virtual, path: at }, adapter) => {
        const found = adapter === undefined ? syntheticStat : await adapter.stat(at, { signal })
        if (followLinks && found.type === 'symlink') {
          const target = (await adapter?.readSymlink?.(at, { signal })) ?? ''
          throw new LinkSignal({ at, target, rest: '' })
        }
        if (parsed.directory && found.type !== 'directory') throw notDirectoryError('stat', virtual)
        return { at: virtual, found }
      },
    ),
  )
}

export async function exists(context: Context, path: string, options: WorkspaceStatOptions = {}): Promise<boolean> {
  try {
    await stat(context, path, options)
    return true
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return false
    throw error
  }
}

function onFile<Result>(
  context: Context,
  operation: FileOperation,
  path: string,
  signal: AbortSignal | undefined,
  step: (adapter: StorageAdapter, located: Located) => Promise<Result>,
): Promise<Result> {
  return perform(context, { operation, path, signal }, (parsed, trace) =>
    context.walker.run(
      { operation, need: 'read', followLast: true, signal, trace },
      parsed.path,
      async (located, adapter) => step(await requireFile(operation, parsed, located, adapter), located),
    ),
  )
}

/** Returns the adapter of a file. A trailing slash after a file is `ENOTDIR`. The operation itself refuses a directory. */
export async function requireFile(
  operation: string,
  { directory }: ParsedPath,
  { virtual, path }: Located,
  adapter: StorageAdapter | undefined,
): Promise<StorageAdapter> {
  if (adapter === undefined) {
    throw virtualError({ code: 'EISDIR', operation, path: virtual, reason: 'is a directory', remedy: 'list it' })
  }
  if (directory && (await adapter.stat(path)).type !== 'directory') throw notDirectoryError(operation, virtual)
  return adapter
}

function isLast(range: ByteRange | LastBytes | undefined): range is LastBytes {
  return range !== undefined && 'last' in range && range.last !== undefined
}

const defaultMaxBytes = 256 * 1024 * 1024

export async function read(context: Context, path: string, options?: WorkspaceReadOptions): Promise<ReadResult> {
  checkMethod('read', 'read', options)
  const { maxBytes = defaultMaxBytes, range: given, ...rest } = options ?? {}
  return onFile(context, 'read', path, rest.signal, async (adapter, located) => {
    const part = async (range: ByteRange | undefined): Promise<ReadResult> => {
      const result = await adapter.read(located.path, { ...rest, range, maxBytes })
      checkReadSize('read', located.path, result.bytes.length, maxBytes) // some adapters ignore `maxBytes`
      return result
    }
    return isLast(given) ? readEnd(adapter, located, given, rest.signal, part) : part(given)
  })
}

export async function readText(context: Context, path: string, options: WorkspaceReadOptions = {}): Promise<string> {
  const { bytes } = await read(context, path, options)
  return decodeText(bytes, path)
}

export async function readStream(
  context: Context,
  path: string,
  options: WorkspaceReadStreamOptions = {},
): Promise<ReadStreamResult> {
  checkMethod('readStream', 'readStream', options)
  const { range: given, ...rest } = options
  return onFile(context, 'read', path, options.signal, (adapter, located) => {
    const part = (range: ByteRange | undefined): Promise<ReadStreamResult> =>
      adapter.readStream(located.path, { ...rest, range })
    if (!isLast(given)) return part(given)
    return readEnd(adapter, located, given, rest.signal, part, async ({ stream }) => stream.return?.())
  })
}

export async function readLines(
  context: Context,
  path: string,
  options: ReadLinesOptions = {},
): Promise<ReadLinesResult> {
  checkMethod('readLines', 'readLines', options)
  const { offset = 0, limit = 2000, last, signal } = options
  if (last !== undefined && (options.offset !== undefined || options.limit !== undefined)) throw twoWindowsError(path)
  const { stream, stat: found } = await readStream(context, path, { signal })
  const window =
    last === undefined
      ? await readWindow(stream, { offset, limit, path, signal })
      : await readLastLines(stream, { last, path, signal })
  return { ...window, stat: found }
}

export async function readSymlink(context: Context, path: string, options: SignalOption = {}): Promise<string> {
  const operation = 'readSymlink'
  checkMethod('signal', operation, options)
  const { signal } = options
  return perform(context, { operation, path, signal }, (parsed, trace) =>
    context.walker.run(
      { operation, need: 'read', followLast: false, signal, trace },
      parsed.path,
      async (located, adapter) => {
        if (adapter?.readSymlink === undefined) {
          if (adapter === undefined) throw noLinkError(located.virtual)
          await adapter.stat(located.path, { signal })
          throw virtualError({
            code: 'ENOTSUP',
            operation,
            path: located.virtual,
            reason: 'lies in a store that holds no links',
            remedy: 'read it as a file, or list it as a directory',
          })
        }
        return adapter.readSymlink(located.path, { signal })
      },
    ),
  )
}

function twoWindowsError(path: string): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'readLines',
    path,
    reason: 'cannot be read by `last` and by `offset` or `limit` at once',
    remedy: 'leave `last` out, or the others',
  })
}

function noLinkError(path: string): Error {
  return virtualError({ code: 'EINVAL', operation: 'readSymlink', path, reason: 'is not a symbolic link' })
}
