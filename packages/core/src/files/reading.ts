import type { StorageAdapter } from '../adapter/contract.ts'
import type {
  ReadOptions,
  ReadResult,
  ReadStreamOptions,
  ReadStreamResult,
  SignalOption,
  Stat,
  StatOptions,
} from '../adapter/types.ts'
import { checkReadSize } from '../adapter/failures.ts'
import { isWorkspaceError } from '../errors.ts'
import type { FileOperation } from '../adapter/operations.ts'
import { perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import type { ReadLinesOptions, ReadLinesResult } from '../workspace/file-door.ts'
import type { Located } from '../mount/gate.ts'
import { checkMethod } from '../calls/method-options.ts'
import { readWindow } from './lines.ts'
import { decodeText } from './text.ts'
import { notDirectoryError } from '../mount/walk.ts'

const syntheticStat: Stat = { type: 'directory', size: 0, version: 'synthetic' }

export async function stat(context: Context, path: string, options: StatOptions = {}): Promise<Stat> {
  checkMethod('signal', 'stat', options)
  const { signal } = options
  return perform(context, { operation: 'stat', path, signal }, (parsed, trace) =>
    context.walker.run(
      { operation: 'stat', need: 'read', followLast: false, signal, trace },
      parsed.path,
      async (located, adapter) => {
        const found = adapter === undefined ? syntheticStat : await adapter.stat(located.path, options)
        if (parsed.directory && found.type !== 'directory') throw notDirectoryError('stat', located.virtual)
        return found
      },
    ),
  )
}

export async function exists(context: Context, path: string, options: SignalOption = {}): Promise<boolean> {
  try {
    await stat(context, path, options)
    return true
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return false
    throw error
  }
}

/** Runs a step that reads the content of a file; links are followed. */
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
      async (located, adapter) => {
        if (adapter === undefined) {
          throw virtualError({
            code: 'EISDIR',
            operation,
            path: located.virtual,
            reason: 'is a directory',
            remedy: 'list it',
          })
        }
        if (parsed.directory) await refuseFile(operation, located, adapter)
        return step(adapter, located)
      },
    ),
  )
}

/** The path ended in a slash: a file there is `ENOTDIR`. A directory is left to the operation, which refuses it. */
async function refuseFile(operation: string, located: Located, adapter: StorageAdapter): Promise<void> {
  const { type } = await adapter.stat(located.path)
  if (type !== 'directory') throw notDirectoryError(operation, located.virtual)
}

/** Bytes that `read` gives at once, unless it is asked for another limit. */
const defaultMaxBytes = 256 * 1024 * 1024

export async function read(context: Context, path: string, options: ReadOptions = {}): Promise<ReadResult> {
  checkMethod('read', 'read', options)
  const { maxBytes = defaultMaxBytes } = options
  return onFile(context, 'read', path, options.signal, async (adapter, located) => {
    const result = await adapter.read(located.path, { ...options, maxBytes })
    checkReadSize('read', located.path, result.bytes.length, maxBytes) // an adapter may know no limit
    return result
  })
}

export async function readText(context: Context, path: string, options: ReadOptions = {}): Promise<string> {
  const { bytes } = await read(context, path, options)
  return decodeText(bytes, path)
}

export async function readStream(
  context: Context,
  path: string,
  options: ReadStreamOptions = {},
): Promise<ReadStreamResult> {
  checkMethod('readStream', 'readStream', options)
  return onFile(context, 'read', path, options.signal, (adapter, located) => adapter.readStream(located.path, options))
}

export async function readLines(
  context: Context,
  path: string,
  options: ReadLinesOptions = {},
): Promise<ReadLinesResult> {
  checkMethod('readLines', 'readLines', options)
  const { offset = 0, limit = 2000, signal } = options
  const { stream, stat: found } = await readStream(context, path, { signal })
  const window = await readWindow(stream, { offset, limit, path, signal })
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
          })
        }
        return adapter.readSymlink(located.path, { signal })
      },
    ),
  )
}

function noLinkError(path: string): Error {
  return virtualError({ code: 'EINVAL', operation: 'readSymlink', path, reason: 'is not a symbolic link' })
}
