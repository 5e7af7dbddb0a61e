import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import {
  operations,
  rewriteError,
  signals,
  wrapAdapter,
  type AdapterOperation,
  type OperationFacts,
  type Call,
  type MountPath,
  type SignalOption,
  type StorageAdapter,
} from '@ws/core/adapter'

import type { Lease } from '../lease/types.ts'
import { conditional } from './conditional.ts'

export interface Fence {
  readonly lease: Lease | undefined
  readonly onChange: () => void
  /** Directories that surely exist, because callers cannot remove them through the thread. No request needs to check for them. */
  readonly directories?: ReadonlySet<string> | undefined
  readonly onFlush: (...error: [] | [unknown]) => void
}

/**
 * Lets only the holder of the lease use a store. Each operation first checks the lease, because a paused process notices a loss too late.
 * Where the store allows it, changes are conditional. A request sent before a pause then fails if a new holder has written.
 */
export function fence(store: StorageAdapter, { lease, onChange, onFlush, directories }: Fence): StorageAdapter {
  const admit = async ({ operation, path, signal }: Call, state = 'was not touched'): Promise<void> => {
    if (lease === undefined || lease.isHeld()) return
    try {
      if (lease.confirm === undefined) throw lostError(operation, path, state)
      await lease.confirm({ signal })
    } catch (error) {
      throw isWorkspaceError(error, 'ECLOSED') ? lostError(operation, path, state) : error
    }
  }
  const layer = wrapAdapter(lease === undefined ? store : asking(store, lease), {
    name: store.name,
    capabilities: store.capabilities,
    shared: true,
    iterate: (call) => ({ before: () => admit(call) }),
    async call(call, run) {
      const { operation, path } = call
      const { changes } = operations[operation]
      if (changes) onChange()
      for (;;) {
        await admit(call)
        try {
          const result = await run()
          if (operation === 'flush') onFlush()
          return result
        } catch (error) {
          if (error === ranOut && !changes) continue
          if (operation === 'flush') onFlush(error)
          if (error === lease?.lost.reason) throw lostError(operation, path, unsure)
          if (error !== ranOut) throw error
          await admit(call, unsure)
          throw rewriteError(ranOut, { operation, path, reason: `${unsure}: ${ranOut.reason}, and was renewed` })
        }
      }
    },
  })
  if (lease === undefined) return layer
  const { beginCommand } = layer
  layer.beginCommand = async (options = {}) => {
    const call = { operation: 'beginCommand', path: paths.mountRoot } as const
    await admit({ ...call, signal: options.signal })
    const end = await beginCommand?.(options)
    return async () => {
      const notes = await end?.()
      // another process may have taken the lease while the command still ran
      await admit(call, 'may have been changed by the command, or not')
      return notes
    }
  }
  return store.capabilities.conditionalWrite === 'server' ? conditional(layer, directories) : layer
}

const unsure = 'may have been changed, or not'

function lostError(operation: string, path: MountPath, state: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ECLOSED',
    operation,
    path,
    reason: `${state}: this process has the right to change the thread no more`,
    remedy: 'open the thread again, and look at what it holds now',
  })
}

const ranOut = new WorkspaceError({
  code: 'EIO',
  operation: 'lease',
  reason: 'the lease of the thread ran out meanwhile',
  remedy: 'look at the thread, then call again',
})

function asking(store: StorageAdapter, lease: Lease): StorageAdapter {
  let held = new AbortController()
  let own: AbortSignal
  const begin = (): void => {
    const controller = new AbortController()
    held = controller
    own = signals.asking(AbortSignal.any([lease.lost, controller.signal]), () => {
      if (!lease.isHeld()) controller.abort(ranOut) // @defence a holder that was stopped or cut off: sends nothing more
    })
  }
  begin()
  const signalOf = (given: AbortSignal | undefined): AbortSignal => {
    if (held.signal.aborted) begin()
    return given === undefined ? own : signals.askingToo(AbortSignal.any([own, given]), own)
  }
  const methods: Record<string, unknown> = {}
  for (const [operation, { optionsAt: at }] of Object.entries<OperationFacts>(operations)) {
    const method = store[operation as AdapterOperation]?.bind(store) as ((...args: unknown[]) => unknown) | undefined
    if (method === undefined) continue
    methods[operation] =
      at === undefined
        ? method
        : (...args: unknown[]) => {
            const options = (args[at] ?? {}) as SignalOption
            args[at] = { ...options, signal: signalOf(options.signal) }
            return method(...args)
          }
  }
  const { name, capabilities, identity } = store
  return { name, capabilities, identity, ...methods } as unknown as StorageAdapter
}
