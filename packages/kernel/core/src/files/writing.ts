import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { DeleteOptions, SignalOption, WriteData, WriteResult } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import { maxPathBytes, relativeTo } from '../path/virtual-path.ts'
import type { FileOperation } from '../contract/operations.ts'
import { admitBelowUnlessLeaf, admitTree } from './admit-tree.ts'
import { perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import type {
  WorkspaceCreateDirectoryOptions,
  WorkspaceWriteData,
  WorkspaceWriteOptions,
} from '../contract/file-door.ts'
import type { Located } from '../mount/gate.ts'
import { checkMethod } from '../calls/method-options.ts'
import { encodeText } from './text.ts'
import { notDirectoryError } from '../mount/walk.ts'

export async function write(
  context: Context,
  path: string,
  data: WorkspaceWriteData,
  given: WorkspaceWriteOptions = {},
): Promise<WriteResult> {
  const operation = 'write'
  checkMethod('write', operation, given)
  const { durable = false, ...options } = given
  const { signal } = options
  return perform(context, { operation, path, signal }, async (parsed, trace) => {
    const content = toContent(data, path)
    const size = content instanceof Uint8Array ? content.byteLength : undefined
    const followLast = options.ifVersion !== 'absent'
    return context.walker.run(
      { operation, need: 'write', followLast, size, signal, trace },
      parsed.path,
      async (located, adapter) => {
        if (adapter === undefined) throw notFileError(operation, located)
        if (parsed.directory) await refuseDirectoryName(operation, located, adapter)
        const parents = options.parents ?? true
        if (parents) await admitParents(context, operation, located, adapter)
        const body = content instanceof Uint8Array ? content : judged(context, operation, located, content)
        const result = await adapter.write(located.path, body, { ...options, parents, durable })
        if (durable) await adapter.flush?.({ signal })
        return result
      },
    )
  })
}

export async function createDirectory(
  context: Context,
  path: string,
  options: WorkspaceCreateDirectoryOptions = {},
): Promise<void> {
  const operation = 'createDirectory'
  checkMethod('createDirectory', operation, options)
  const { signal } = options
  const recursive = options.recursive ?? true
  return perform(context, { operation, path, signal }, async (parsed, trace) => {
    const budget = { links: 0 }
    // Creating an existing directory succeeds if it may be read, also at the root of a read-only mount.
    if (recursive && typeof parsed.path === 'string') {
      const node = context.gate.namespace.at(parsed.path)
      if (node?.leadsToMount === true) {
        await context.walker.follow(operation, parsed.path, budget)
        return
      }
    }
    await context.walker.run(
      { operation, need: 'write', followLast: recursive, signal, trace },
      parsed.path,
      async (located, adapter) => {
        if (adapter === undefined) return
        if (recursive) await admitParents(context, operation, located, adapter)
        await adapter.createDirectory(located.path, { ...options, recursive })
      },
    )
  })
}

export async function createSymlink(
  context: Context,
  path: string,
  target: string,
  options: SignalOption = {},
): Promise<void> {
  const operation = 'createSymlink'
  checkMethod('signal', operation, options)
  const { signal } = options
  return perform(context, { operation, path, signal }, async (parsed, trace) => {
    if (typeof target !== 'string' || target === '' || target.includes('\0') || !target.isWellFormed()) {
      throw virtualError({
        code: 'EINVAL',
        operation,
        path,
        reason: 'would get a target that is empty, or no text that a link can hold',
        remedy: 'pass a path as target, absolute or relative to the directory of the link',
      })
    }
    if (target.length > maxPathBytes) {
      throw virtualError({ code: 'ENAMETOOLONG', operation, path, reason: 'would get a target that is too long' })
    }
    await context.walker.run(
      { operation, need: 'write', followLast: false, signal, trace },
      parsed.path,
      async (located, adapter) => {
        if (adapter?.createSymlink === undefined)
          throw notSupportedError(operation, located, 'lies in a store that holds no links', noLinks)
        if (parsed.directory) throw notDirectoryError(operation, located.virtual)
        await adapter.createSymlink(located.path, target, { signal })
      },
    )
  })
}

export async function remove(context: Context, path: string, options: DeleteOptions = {}): Promise<void> {
  const operation = 'delete'
  checkMethod('delete', operation, options)
  const { signal } = options
  return perform(context, { operation, path, signal }, async (parsed, trace) => {
    refuseDots(operation, path)
    return context.walker.run(
      { operation, need: 'write', followLast: false, signal, trace },
      parsed.path,
      async (located, adapter) => {
        context.gate.refuseMountPoint(operation, located)
        if (adapter === undefined) return
        if (parsed.directory) {
          const { type } = await adapter.stat(located.path, { signal })
          if (type !== 'directory') throw notDirectoryError(operation, located.virtual)
        }
        const leaf = await admitBelowUnlessLeaf(context, operation, located, adapter)
        if (options.recursive === true) await admitTree(context, operation, located, adapter, ['write'], signal)
        // If a directory has replaced the entry, it may contain protected entries: no recursive delete.
        await adapter.delete(located.path, leaf ? { ...options, recursive: false } : options)
      },
    )
  })
}

/** Refuses `.` and `..` at the end of a path, as `rm` and `mv` do: `/p/q/..` means `/p`, which callers rarely intend. */
export function refuseDots(operation: string, path: string): void {
  const last = /(?:^|\/)(\.\.?)\/*$/.exec(path)?.[1]
  if (last === undefined) return
  throw virtualError({
    code: 'EINVAL',
    operation,
    path,
    reason: `ends in \`${last}\``,
    remedy: 'name the entry itself',
  })
}

/** Checks missing parents, which the store would create. A parent that rules forbid to write must already exist. */
export async function admitParents(
  context: Context,
  operation: FileOperation,
  located: Located,
  adapter: StorageAdapter,
): Promise<void> {
  const ancestor = context.gate.unwritableAncestor(located)
  if (ancestor === undefined || located.mount === undefined) return
  try {
    await adapter.stat(relativeTo(ancestor, located.mount.at))
  } catch (error) {
    // A link is on the path. The operation itself finds the link, and calls this function again with the path after the link.
    if (error instanceof LinkSignal) return
    if (!isWorkspaceError(error, 'ENOENT')) throw error
    context.gate.admit(operation, ancestor, 'write')
  }
}

export function toContent(data: WorkspaceWriteData, path: string): WriteData {
  if (typeof data === 'string') return encodeText(data, path)
  if (data instanceof Uint8Array) return data
  if (typeof data === 'object' && data !== null && Symbol.asyncIterator in data) return data
  throw badDataError(path)
}

export function badDataError(path: string): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'write',
    path,
    reason: 'cannot be written: the data is neither text nor bytes',
    remedy: 'pass a string, a Uint8Array or an async iterable of Uint8Array',
  })
}

/** Checks the policy again as a stream grows, since the size is unknown at the start. */
export function judged(
  context: Context,
  operation: FileOperation,
  { virtual }: Located,
  stream: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let size = 0
    for await (const chunk of stream) {
      if (!(chunk instanceof Uint8Array)) throw badDataError(virtual)
      size += chunk.byteLength
      if (context.gate.judgesSizes) context.gate.admit(operation, virtual, 'write', size)
      yield chunk
    }
  }
  // The iterator starts when the adapter begins to read. If the adapter finds a link first, the caller's stream remains unread.
  return { [Symbol.asyncIterator]: () => chunks() }
}

export async function refuseDirectoryName(operation: string, located: Located, adapter: StorageAdapter): Promise<void> {
  try {
    const { type } = await adapter.stat(located.path)
    if (type !== 'directory') throw notDirectoryError(operation, located.virtual)
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOENT')) throw error
  }
  throw notFileError(operation, located)
}

export function notFileError(operation: string, { virtual }: Located): Error {
  return virtualError({
    code: 'EISDIR',
    operation,
    path: virtual,
    reason: 'names a directory',
    remedy: 'name a file in it, without a trailing slash',
  })
}

const noLinks = 'copy what the link would lead to, or use a store that holds links'

export function notSupportedError(operation: string, { virtual }: Located, reason: string, remedy: string): Error {
  return virtualError({ code: 'ENOTSUP', operation, path: virtual, reason, remedy })
}
