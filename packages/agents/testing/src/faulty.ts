import { setTimeout } from 'node:timers/promises'

import { WorkspaceError, type ErrorCode } from '@ws/core'
import { wrapAdapter, type Call, type LayerOptions, type StorageAdapter } from '@ws/core/adapter'
import { checkOption, checkOptions, option } from '@ws/core/options'

import { checkFaults, FaultPlan, type Fault, type MetFault } from './faults.ts'
import { tear } from './tear.ts'

export interface FaultyAdapter extends StorageAdapter {
  /** The faults that have occurred, in order. */
  readonly met: readonly MetFault[]
  /** Replaces the faults, and resets their counts. @throws WorkspaceError `EINVAL` */
  setFaults(faults: readonly Fault[]): void
}

/**
 * Adds faults to an adapter. In each call, the first matching fault of the list occurs. Other calls keep the whole contract.
 * `close` and `hostPath` never fail. @throws WorkspaceError `EINVAL` that names the fault and its field
 */
export function faulty(
  adapter: StorageAdapter,
  faults: readonly Fault[] = [],
  options: LayerOptions = {},
): FaultyAdapter {
  checkOption('faulty', 'adapter', adapter, option.adapter)
  checkOptions<LayerOptions>(options, { shared: option.boolean }, { operation: 'faulty' })
  checkFaults('faulty', faults)
  const met: MetFault[] = []
  const closing = new AbortController()
  let plan = new FaultPlan(faults)

  /** Returns the fault of a call after its delay, or throws its error. */
  const begin = async (call: Call): Promise<Fault | undefined> => {
    const fault = plan.draw(call)
    if (fault === undefined) return undefined
    met.push({ kind: fault.kind, operation: call.operation, path: call.path })
    if (fault.kind === 'delay') await wait(call, fault.duration, closing.signal)
    if (fault.kind === 'error') throw failure(call, fault.code ?? 'EBACKEND', 'was refused by a fault of the test')
    return fault
  }
  const layer = wrapAdapter(adapter, {
    name: `faulty(${adapter.name})`,
    capabilities: adapter.capabilities,
    shared: options.shared,
    async call(call, run) {
      const fault = await begin(call)
      if (fault?.kind === 'torn') throw broken(call, fault.after)
      const result = await run()
      if (fault?.kind === 'lost') throw lost(call)
      return result
    },
    async readStream(call, run) {
      const fault = await begin(call)
      const { stat, stream } = await run()
      if (fault?.kind === 'torn') {
        const source = (): AsyncIterator<Uint8Array> => stream
        return { stat, stream: tear(source, async () => cutAfter(call, fault.after)) }
      }
      if (fault?.kind !== 'lost') return { stat, stream }
      await stream.return?.()
      throw lost(call)
    },
    async write(call, data, run) {
      const fault = await begin(call)
      if (fault?.kind !== 'torn') {
        const result = await run(data)
        if (fault?.kind === 'lost') throw lost(call)
        return result
      }
      if (data instanceof Uint8Array) throw broken(call, fault.after)
      const source = (): AsyncIterator<Uint8Array> => data[Symbol.asyncIterator]()
      return run(tear(source, async () => cutAfter(call, fault.after)))
    },
  })
  const { list, search, close: closeLayer } = layer
  const iterate = <Item>(call: Call, open: () => AsyncIterator<Item>): AsyncIterableIterator<Item> =>
    tear(open, async () => {
      const fault = await begin(call)
      if (fault?.kind === 'torn') return cutAfter(call, fault.after)
      return fault?.kind === 'lost' ? { after: Infinity, error: lost(call) } : undefined
    })
  const close = async (): Promise<void> => {
    closing.abort()
    await closeLayer()
  }
  return Object.assign(layer, {
    met,
    setFaults(next: readonly Fault[]): void {
      checkFaults('setFaults', next)
      plan = new FaultPlan(next)
    },
    list: ((path, given) =>
      iterate({ operation: 'list', path, signal: given?.signal }, () =>
        list(path, given),
      )) satisfies StorageAdapter['list'],
    ...(search && {
      search: ((query, given) =>
        iterate({ operation: 'search', path: query.in, signal: given?.signal }, () =>
          search(query, given),
        )) satisfies StorageAdapter['search'],
    }),
    close,
    [Symbol.asyncDispose]: close,
  })
}

async function wait(call: Call, duration: number, closing: AbortSignal): Promise<void> {
  const { signal } = call
  const either = signal === undefined ? closing : AbortSignal.any([signal, closing])
  await setTimeout(duration, undefined, { signal: either }).catch(() => undefined) // an abort ends the delay; the next line reports it
  signal?.throwIfAborted()
  if (closing.aborted) throw failure(call, 'ECLOSED', 'was closed during a delay of the test', 'open another adapter')
}

const cutAfter = (call: Call, after: number) => ({ after, error: broken(call, after) })

const broken = (call: Call, after: number): WorkspaceError =>
  failure(call, 'EBACKEND', `broke off after ${after}, by a fault of the test`)

const lost = (call: Call): WorkspaceError =>
  failure(
    call,
    'EBACKEND',
    'gave no answer, by a fault of the test: a change may have happened',
    'read the state before you try again',
  )

function failure({ operation, path }: Call, code: ErrorCode, reason: string, remedy = 'try again'): WorkspaceError {
  return new WorkspaceError({ code, operation, path, reason, remedy })
}
