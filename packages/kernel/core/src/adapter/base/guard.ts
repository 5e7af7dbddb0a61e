import type { MountPath } from '../../path/virtual-path.ts'
import type { Driver } from '../../contract/driver.ts'
import { operations, type AdapterOperation } from '../../contract/operations.ts'
import type { ReadStreamResult, SignalOption } from '../../contract/file-types.ts'
import { dateable } from './admission.ts'
import { checked, explain, fault, type FaultContext } from './faults.ts'
import {
  isAdapter,
  isBytes,
  isEntry,
  isFunction,
  isHit,
  isHostDirectory,
  isNothing,
  isReadResult,
  isStat,
  isStreamResult,
  isText,
  isTransferResult,
  isWriteResult,
} from './results.ts'

type Accepts = (value: unknown) => boolean
type Call = (...args: unknown[]) => unknown

type Results = { readonly [How in 'promise' | 'items' | 'value']?: Accepts }

/** The kind of result of each operation. Operations without an entry return a promise of `undefined`. */
const results: { readonly [Name in AdapterOperation]?: Results } = {
  stat: { promise: isStat },
  read: { promise: isReadResult },
  readStream: { promise: isStreamResult },
  readSymlink: { promise: isText },
  createSymlink: { promise: (value) => isNothing(value) || isWriteResult(value) },
  write: { promise: isWriteResult },
  append: { promise: isWriteResult },
  list: { items: isEntry },
  search: { items: isHit },
  move: { promise: isTransferResult },
  copy: { promise: isTransferResult },
  hostPath: { value: isText },
  hostDirectory: { promise: isHostDirectory },
  beginCommand: { promise: isFunction },
  createScratch: { promise: isAdapter },
  createFork: { promise: isAdapter },
}

const nothing: Results = { promise: isNothing }

export function guard(driver: Driver): Driver {
  const { name, capabilities } = driver
  const guarded: Record<string, unknown> = { name, capabilities }
  for (const operation of Object.keys(operations) as AdapterOperation[]) {
    const method = driver[operation] as ((...args: never[]) => unknown) | undefined
    if (typeof method !== 'function') continue
    const call = method.bind(driver) as Call
    const { promise, items, value = isNothing } = results[operation] ?? nothing
    if (promise !== undefined) guarded[operation] = promised(name, operation, call, promise)
    else if (items !== undefined) guarded[operation] = iterated(name, operation, call, items)
    else guarded[operation] = immediate(name, operation, call, value)
  }
  if (driver.checkPath !== undefined) guarded['checkPath'] = pathCheck(name, driver.checkPath.bind(driver))
  return guarded as unknown as Driver
}

function contextOf(name: string, operation: AdapterOperation, args: readonly unknown[]): FaultContext {
  const [first] = args
  const path = typeof first === 'string' ? first : ((first as { in?: MountPath } | undefined)?.in ?? '/')
  const { signal } = (args.at(-1) ?? {}) as SignalOption
  return { name, operation, path, signal }
}

function promised(name: string, operation: AdapterOperation, call: Call, accepts: Accepts): Call {
  const { changes } = operations[operation]
  return async (...args) => {
    const context = contextOf(name, operation, args)
    const work = (async () => call(...args))()
    const result = await checked(work, { context, changes, accepts })
    if (operation !== 'readStream') return dated(result)
    const { stat, stream } = dated(result) as ReadStreamResult
    return { stat, stream: items(() => stream, isBytes, context) }
  }
}

/** Removes a time that no Date can represent from a result, a stat or an entry. */
function dated(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result
  const { stat, modifiedAt } = result as { readonly stat?: unknown; readonly modifiedAt?: number }
  if (typeof stat === 'object') return { ...result, stat: dated(stat) }
  return modifiedAt === undefined || dateable(modifiedAt) !== undefined ? result : { ...result, modifiedAt: undefined }
}

function iterated(name: string, operation: AdapterOperation, call: Call, accepts: Accepts): Call {
  return (...args) => items(() => call(...args), accepts, contextOf(name, operation, args))
}

async function* items(
  open: () => unknown,
  accepts: Accepts,
  context: FaultContext,
): AsyncGenerator<unknown, undefined> {
  try {
    const opened = open()
    if (opened instanceof Promise) ignoreFailure(opened)
    for await (const item of opened as AsyncIterable<unknown>) {
      if (!accepts(item)) throw fault(context, `\`${context.operation}\` gave an item of another shape`)
      yield dated(item)
    }
  } catch (error) {
    throw explain(error, context)
  }
  return undefined
}

function immediate(name: string, operation: AdapterOperation, call: Call, accepts: Accepts): Call {
  return (...args) => {
    const context = contextOf(name, operation, args)
    let result: unknown
    try {
      result = call(...args)
    } catch (error) {
      throw explain(error, context)
    }
    if (accepts(result)) return result
    if (result instanceof Promise) ignoreFailure(result)
    throw fault(context, `\`${operation}\` returned a value of another shape`)
  }
}

/** Catches the rejection of an unexpected promise, since an unhandled one would end the process. The caller reports the promise. */
function ignoreFailure(promise: Promise<unknown>): void {
  promise.catch(() => undefined)
}

function pathCheck(name: string, check: NonNullable<Driver['checkPath']>): Driver['checkPath'] {
  return (path, operation, creates) => {
    try {
      check(path, operation, creates)
    } catch (error) {
      throw explain(error, { name, operation, path }, 'checkPath')
    }
  }
}
