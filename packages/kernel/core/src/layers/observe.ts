import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import { isWorkspaceError, type ErrorCode } from '../errors.ts'
import type { MountPath } from '../path/virtual-path.ts'
import { wrapIterator } from './iterator.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { AdapterOperation } from '../contract/operations.ts'
import { checkLayer, isStream, wrapAdapter, type Call, type LayerOptions } from './wrap-adapter.ts'

interface EventBase {
  readonly operation: AdapterOperation
  /** The path; the source for move and copy; `/` for operations without a path. */
  readonly path: MountPath
  readonly destination?: MountPath | undefined
}

/** The start of an operation. For an iteration: its first `next()`. */
export interface AdapterBeforeEvent extends EventBase {
  readonly phase: 'before'
}

/** The end of an operation. For an iteration or a stream: its end, an early stop, or a failure. */
export interface AdapterAfterEvent extends EventBase {
  readonly phase: 'after'
  /** Milliseconds since the start. */
  readonly duration: number
  /** `link`: the operation reached a symbolic link and had no effect. `failed` includes aborts. */
  readonly outcome: 'done' | 'link' | 'failed'
  /** The error's code, if the error is a `WorkspaceError`. */
  readonly code?: ErrorCode | undefined
  readonly bytes?: number | undefined
}

export type AdapterEvent = AdapterBeforeEvent | AdapterAfterEvent

/** Calls a listener before and after every operation except `close` and `hostPath`. Errors of the listener are ignored. */
export function observe(
  adapter: StorageAdapter,
  listener: (event: AdapterEvent) => void,
  options: LayerOptions = {},
): StorageAdapter {
  checkOption('observe', 'listener', listener, option.required(option.function))
  const { shared } = checkLayer('observe', adapter, options)
  const emit = (event: AdapterEvent): void => {
    try {
      const result: unknown = listener(event)
      // catches the rejection of an async listener, which would end the process
      if (result instanceof Promise) result.catch(() => undefined)
    } catch {
      // an error of the listener must not affect the adapter
    }
  }
  /** Reports the start, and returns a function that reports the end. */
  const begin = ({ operation, path, destination }: Call): Report => {
    const about = destination === undefined ? { operation, path } : { operation, path, destination }
    emit({ phase: 'before', ...about })
    const start = performance.now()
    return (result) => emit({ phase: 'after', ...about, duration: performance.now() - start, ...result })
  }
  const observed = async <Result>(
    call: Call,
    run: () => Promise<Result>,
    bytes: (result?: Result) => number | undefined = () => call.bytes,
  ): Promise<Result> => {
    const report = begin(call)
    try {
      const result = await run()
      report({ outcome: 'done', ...some(bytes(result)) })
      return result
    } catch (error) {
      report({ ...outcomeOf([error]), ...some(call.bytes === undefined ? bytes() : 0) })
      throw error
    }
  }

  return wrapAdapter(adapter, {
    name: `observe(${adapter.name})`,
    capabilities: adapter.capabilities,
    shared,
    call: (call, run) => observed(call, run),
    iterate(call) {
      let report: Report | undefined
      return {
        before: () => {
          report = begin(call)
        },
        end: (...error) => report?.(outcomeOf(error)),
      }
    },
    read: (call, run) => observed(call, run, (result) => result?.bytes.length),
    async readStream(call, run) {
      const report = begin(call)
      try {
        const { stat, stream } = await run()
        let bytes = 0
        const item = (chunk: Uint8Array): Uint8Array => {
          bytes += chunk.length
          return chunk
        }
        const end = (...error: [] | [unknown]): void => report({ ...outcomeOf(error), bytes })
        return { stat, stream: wrapIterator(stream, { item, end }) }
      } catch (error) {
        report(outcomeOf([error]))
        throw error
      }
    },
    write(call, data, run) {
      if (!isStream(data)) return observed(call, () => run(data))
      let bytes = 0
      const body: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () =>
          wrapIterator(data[Symbol.asyncIterator](), {
            item: (chunk) => {
              bytes += chunk?.length ?? 0
              return chunk
            },
          }),
      }
      return observed(
        call,
        () => run(body),
        () => bytes,
      )
    },
  })
}

type Outcome = Pick<AdapterAfterEvent, 'outcome' | 'code' | 'bytes'>
type Report = (outcome: Outcome) => void

function outcomeOf(errors: [] | [unknown]): Outcome {
  if (errors.length === 0) return { outcome: 'done' }
  const [error] = errors
  if (error instanceof LinkSignal) return { outcome: 'link' }
  return isWorkspaceError(error) ? { outcome: 'failed', code: error.code } : { outcome: 'failed' }
}

function some(bytes: number | undefined): { bytes?: number } {
  return bytes === undefined ? {} : { bytes }
}
