import type { StorageAdapter } from '../contract/adapter.ts'
import type { AppendOptions, ReadStreamResult, WriteResult } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import type { MountPath } from '../path/virtual-path.ts'
import { perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { Located } from '../mount/gate.ts'
import type { WorkspaceWriteData } from '../contract/file-door.ts'
import { Beginning } from './beginning.ts'
import {
  admitParents,
  badDataError,
  judged,
  notFileError,
  notSupportedError,
  refuseDirectoryName,
  toContent,
} from './writing.ts'

const operation = 'append'
const mostAtOnce = 8 * 1024 * 1024

export async function append(
  context: Context,
  path: string,
  data: WorkspaceWriteData,
  options: AppendOptions = {},
): Promise<WriteResult> {
  checkMethod('append', operation, options)
  const { signal } = options
  return perform(context, { operation, path, signal }, async (parsed, trace) => {
    const content = toContent(data, path)
    const stream =
      content instanceof Uint8Array ? undefined : new Beginning(content, mostAtOnce, () => badDataError(path))
    try {
      return await context.walker.run(
        { operation, need: 'write', followLast: true, signal, trace },
        parsed.path,
        async (located, adapter) => {
          if (adapter === undefined) throw notFileError(operation, located)
          if (adapter.append === undefined)
            throw notSupportedError(operation, located, 'cannot be appended to', 'read it, and write it whole')
          if (parsed.directory) await refuseDirectoryName(operation, located, adapter)
          const parents = options.parents ?? true
          if (parents) await admitParents(context, operation, located, adapter)
          const bytes = content instanceof Uint8Array ? content : await stream?.whole(signal)
          if (bytes === undefined && stream !== undefined)
            return rewrite(context, located, adapter, stream, { ...options, parents })
          const added = bytes ?? new Uint8Array()
          if (context.gate.judgesSizes) {
            const before = await sizeOf(adapter, located.path)
            context.gate.admit(operation, located.virtual, 'write', before + added.byteLength)
          }
          return adapter.append(located.path, added, { ...options, parents })
        },
      )
    } finally {
      stream?.close()
    }
  })
}

async function rewrite(
  context: Context,
  located: Located,
  adapter: StorageAdapter,
  stream: Beginning,
  options: AppendOptions,
): Promise<WriteResult> {
  const { path } = located
  const old = await oldContent(adapter, path, options)
  async function* both(): AsyncGenerator<Uint8Array> {
    if (old !== undefined) yield* old.stream
    yield* stream.all()
  }
  const ifVersion = options.ifVersion ?? old?.stat.version ?? 'absent'
  try {
    return await adapter.write(path, judged(context, operation, located, both()), { ...options, ifVersion })
  } finally {
    await old?.stream.return?.()
  }
}

async function oldContent(
  adapter: StorageAdapter,
  path: MountPath,
  { ifVersion, signal }: AppendOptions,
): Promise<ReadStreamResult | undefined> {
  if (ifVersion === 'absent') return undefined
  try {
    return await adapter.readStream(path, { ifVersion, signal })
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

async function sizeOf(adapter: StorageAdapter, path: MountPath): Promise<number> {
  try {
    return (await adapter.stat(path)).size
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return 0
    throw error
  }
}
