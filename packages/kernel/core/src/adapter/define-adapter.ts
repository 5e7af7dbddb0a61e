import type { StorageAdapter } from '../contract/adapter.ts'
import type { Driver } from '../contract/driver.ts'
import { Base } from './base/base.ts'
import { checkDriver } from './base/check-driver.ts'
import { guard } from './base/guard.ts'
import { checkOptions } from '../options/check.ts'
import { option, type OptionShapes } from '../options/shapes.ts'

export interface DefineAdapterOptions {
  /** Trusts the driver's results and errors. Default false: a result that breaks the contract becomes `EBACKEND`. */
  readonly trusted?: boolean | undefined
}

const shapes: OptionShapes<DefineAdapterOptions> = { trusted: option.boolean }

/**
 * Makes an adapter from a driver. The base runs the checks that {@link Driver} lists. A read rejects as soon as its signal aborts.
 * @throws WorkspaceError `EINVAL` when methods and capabilities do not agree, or an option is unknown
 */
export function defineAdapter(driver: Driver, options: DefineAdapterOptions = {}): StorageAdapter {
  checkOptions(options, shapes, { operation: 'defineAdapter' })
  checkDriver(driver)
  return new Base(options.trusted === true ? driver : guard(driver))
}
