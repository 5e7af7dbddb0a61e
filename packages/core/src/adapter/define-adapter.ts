import type { StorageAdapter } from './contract.ts'
import type { Driver } from './driver.ts'
import { Base } from './base/base.ts'
import { checkDriver } from './base/check-driver.ts'
import { guard } from './base/guard.ts'

export interface DefineAdapterOptions {
  /**
   * The results and errors of the driver are taken as they are: its own tests see to them. Default false: a result of
   * another shape, a foreign error, or a change that does not end after its abort is `EBACKEND` and names the adapter.
   */
  readonly trusted?: boolean | undefined
}

/**
 * Makes an adapter of a driver. The base does the common work of all adapters, before the driver is called. It refuses
 * calls after `close`, paths and options that are not well-formed, aborted signals and changes of a read-only store,
 * each with the same words. It races reads against their signal.
 *
 * @throws WorkspaceError `EINVAL` when methods and capabilities do not agree.
 */
export function defineAdapter(driver: Driver, { trusted = false }: DefineAdapterOptions = {}): StorageAdapter {
  checkDriver(driver)
  return new Base(trusted ? driver : guard(driver))
}
