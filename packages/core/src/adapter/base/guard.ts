import type { MountPath } from '../../path/virtual-path.ts'
import type { Driver } from '../driver.ts'
import { operations, type AdapterOperation } from '../operations.ts'
import type { SignalOption } from '../types.ts'
import { checked, explain, fault, type FaultContext } from './faults.ts'
import {
  isEntry,
  isHit,
  isNothing,
  isReadResult,
  isStat,
  isStreamResult,
  isText,
  isTransferResult,
  isWriteResult,
} from './results.ts'

type Method = (...args: never[]) => unknown

const results: Partial<Record<AdapterOperation, (value: unknown) => boolean>> = {
  stat: isStat,
  read: isReadResult,
  readStream: isStreamResult,
  readSymlink: isText,
  write: isWriteResult,
  append: isWriteResult,
  createDirectory: isNothing,
  createSymlink: isNothing,
  delete: isNothing,
  move: isTransferResult,
  copy: isTransferResult,
  flush: isNothing,
}
const items: Partial<Record<AdapterOperation, (value: unknown) => boolean>> = { list: isEntry, search: isHit }

/** A driver whose results and errors are checked. Members that are not in the table of operations are passed on. */
export function guard(driver: Driver): Driver {
  const guarded: Record<string, unknown> = {}
  for (const operation of Object.keys(operations) as AdapterOperation[]) {
    const method = driver[operation as keyof Driver] as Method | undefined
    if (typeof method !== 'function') continue
    const call = method.bind(driver) as (...args: unknown[]) => unknown
    const [accepts, acceptsItem] = [results[operation], items[operation]]
    if (accepts !== undefined) guarded[operation] = promised(driver.name, operation, call, accepts)
    else if (acceptsItem !== undefined) guarded[operation] = iterated(driver.name, operation, call, acceptsItem)
    else guarded[operation] = call
  }
  const { name, capabilities } = driver
  const checkPath = driver.checkPath?.bind(driver)
  return { ...(guarded as unknown as Driver), name, capabilities, ...(checkPath && { checkPath }) }
}

function contextOf(name: string, operation: AdapterOperation, args: readonly unknown[]): FaultContext {
  const [first] = args
  const path = typeof first === 'string' ? first : ((first as { in?: MountPath } | undefined)?.in ?? '/')
  const { signal } = (args.at(-1) ?? {}) as SignalOption
  return { name, operation, path, signal }
}

function promised(
  name: string,
  operation: AdapterOperation,
  call: (...args: unknown[]) => unknown,
  accepts: (value: unknown) => boolean,
) {
  const { changes } = operations[operation]
  return (...args: unknown[]): Promise<unknown> => {
    const ofBody = new Set<unknown>()
    const context = { ...contextOf(name, operation, args), ofBody }
    const [path, data, ...others] = args
    const given = operation === 'write' && isStream(data) ? [path, noted(data, ofBody), ...others] : args
    const work = (async () => call(...given))()
    return checked(work, { context, changes, accepts })
  }
}

function isStream(data: unknown): data is AsyncIterable<Uint8Array> {
  return typeof data === 'object' && data !== null && Symbol.asyncIterator in data
}

/** A body, with its errors noted: they are the caller's, and no fault of the driver. */
async function* noted(data: AsyncIterable<Uint8Array>, errors: Set<unknown>): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* data
  } catch (error) {
    errors.add(error)
    throw error
  }
  return undefined
}

function iterated(
  name: string,
  operation: AdapterOperation,
  call: (...args: unknown[]) => unknown,
  accepts: (value: unknown) => boolean,
) {
  return async function* (...args: unknown[]): AsyncGenerator<unknown, undefined> {
    const context = contextOf(name, operation, args)
    try {
      for await (const item of call(...args) as AsyncIterable<unknown>) {
        if (!accepts(item)) throw fault(context, `\`${operation}\` gave an item of another shape`)
        yield item
      }
    } catch (error) {
      throw explain(error, context)
    }
    return undefined
  }
}
