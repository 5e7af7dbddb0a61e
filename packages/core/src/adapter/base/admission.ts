import { mountRoot, type MountPath } from '../../path/virtual-path.ts'
import type { Driver } from '../driver.ts'
import { contractError } from '../failures.ts'
import { operations, type AdapterOperation, type OperationFacts } from '../operations.ts'
import { checkPath } from './arguments.ts'

/** Says whether a call may reach the driver. */
export class Admission {
  isClosed = false
  readonly #driver: Driver

  constructor(driver: Driver) {
    this.#driver = driver
  }

  /** The checks of every operation, in this order, before the driver is called. */
  admit(operation: AdapterOperation, path: MountPath, signal?: AbortSignal, destination?: MountPath): void {
    const { creates, changes, replaces }: OperationFacts = operations[operation]
    const { maxPathBytes, readOnly } = this.#driver.capabilities
    checkPath(path, operation, maxPathBytes)
    this.#driver.checkPath?.(path, operation, creates === 'path')
    if (destination !== undefined) {
      checkPath(destination, operation, maxPathBytes)
      this.#driver.checkPath?.(destination, operation, true)
    }
    this.goOn(operation, path, signal)
    if (changes && readOnly) throw contractError('EROFS', operation, path)
    const isRoot = path === mountRoot || destination === mountRoot
    if (isRoot && replaces === true && path !== destination) throw contractError('EBUSY', operation, mountRoot)
  }

  /** @throws WorkspaceError `ENOTSUP` where the store does not check the conditions of the operation */
  checkConditional(operation: AdapterOperation, path: MountPath): void {
    const { condition }: OperationFacts = operations[operation]
    if (condition === undefined || this.#driver.capabilities[condition] !== 'none') return
    throw contractError('noCondition', operation, path)
  }

  /** @throws WorkspaceError `ECLOSED`, or the signal's reason */
  goOn(operation: AdapterOperation, path: MountPath, signal: AbortSignal | undefined): void {
    if (this.isClosed) throw contractError('ECLOSED', operation, path)
    signal?.throwIfAborted()
  }
}
