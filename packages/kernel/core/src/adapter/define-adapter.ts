import type { StorageAdapter } from '../contract/adapter.ts'
import type { Driver } from '../contract/driver.ts'
import { Base } from './base/base.ts'
import { checkDriver } from './base/check-driver.ts'
import { guard } from './base/guard.ts'
import { checkOptions } from '../options/check.ts'
import { option, type OptionShapes } from '../options/shapes.ts'

export interface DefineAdapterOptions {
  /**
   * The results and errors of the driver are taken as they are: its own tests check them. Default false: a result of
   * another shape, a foreign error, or a change that does not end after its abort is `EBACKEND` and names the adapter.
   */
  readonly trusted?: boolean | undefined
}

const shapes: OptionShapes<DefineAdapterOptions> = { trusted: option.boolean }

/**
 * Makes an adapter of a driver. The base does the common work of all adapters, before the driver is called. It refuses
 * calls after `close`, paths and options that are not well-formed, aborted signals and changes of a read-only store,
 * each with the same words. It races reads against their signal.
 *
 * @throws WorkspaceError `EINVAL` when methods and capabilities do not agree, or an option is unknown.
 */
export function defineAdapter(driver: Driver, options: DefineAdapterOptions = {}): StorageAdapter {
  checkOptions(options, shapes, { operation: 'defineAdapter' })
  checkDriver(driver)
  return new Base(options.trusted === true ? driver : guard(driver))
}
