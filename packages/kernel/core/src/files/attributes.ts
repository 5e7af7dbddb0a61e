import type { StorageAdapter } from '../contract/adapter.ts'
import type { SignalOption, Times } from '../contract/file-types.ts'
import type { MountPath } from '../path/virtual-path.ts'
import { perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import { notDirectoryError } from '../mount/walk.ts'
import { notSupportedError } from './writing.ts'

type Change = (adapter: StorageAdapter, path: MountPath, options: SignalOption) => Promise<void> | undefined

export function chmod(context: Context, path: string, mode: number, options: SignalOption = {}): Promise<void> {
  return change(context, 'chmod', path, options, (adapter, at, given) => adapter.chmod?.(at, mode, given))
}

export function utimes(context: Context, path: string, times: Times, options: SignalOption = {}): Promise<void> {
  return change(context, 'utimes', path, options, (adapter, at, given) => adapter.utimes?.(at, times, given))
}

const kept = { chmod: 'permission bits', utimes: 'times that are set' } as const

async function change(
  context: Context,
  operation: keyof typeof kept,
  path: string,
  options: SignalOption,
  run: Change,
): Promise<void> {
  checkMethod('signal', operation, options)
  const { signal } = options
  return perform(context, { operation, path, signal }, async (parsed, trace) => {
    await context.walker.run(
      { operation, need: 'write', followLast: true, signal, trace },
      parsed.path,
      async (located, adapter) => {
        if (adapter !== undefined && parsed.directory) {
          const { type } = await adapter.stat(located.path, { signal })
          if (type !== 'directory' && type !== 'symlink') throw notDirectoryError(operation, located.virtual)
        }
        const changing = adapter === undefined ? undefined : run(adapter, located.path, { signal })
        if (changing !== undefined) return await changing
        const reason = `lies in a store that keeps no ${kept[operation]}`
        throw notSupportedError(operation, located, reason, 'leave them as they are, or use a store that keeps them')
      },
    )
  })
}
