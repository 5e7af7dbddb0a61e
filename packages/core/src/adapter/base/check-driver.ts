import { WorkspaceError } from '../../errors.ts'
import { hasMethods, option } from '../../options/shapes.ts'
import type { AdapterCapabilities } from '../capabilities.ts'
import type { Driver } from '../driver.ts'
import { operations, type OperationCapability, type OperationFacts, type OptionalOperation } from '../operations.ts'

const always = ['stat', 'read', 'write', 'list', 'createDirectory', 'delete', 'move', 'copy'] as const

/** A driver whose optional operations are called only where it has them. */
export type Whole = Driver & Required<Pick<Driver, OptionalOperation>>

/** Listed once: adapters can be many. */
const promises = Object.entries<OperationFacts>(operations).flatMap(([name, { capability }]) =>
  capability === undefined ? [] : [{ name: name as OptionalOperation, capability: capability as OperationCapability }],
)

/** @throws WorkspaceError `EINVAL` when a method is missing, or methods and capabilities do not agree */
export function checkDriver(driver: Driver): void {
  if (!hasMethods(driver, ...always)) {
    const lacking = always.find((name) => !hasMethods(driver, name)) ?? 'stat'
    throw invalidDriver(`the driver has no method \`${lacking}\``, 'write it')
  }
  const { name: given, capabilities } = driver
  if (!option.text.accepts(given)) throw invalidDriver('the driver has no `name`', 'give it one, for messages')
  if (!option.object.accepts(capabilities)) throw invalidDriver('the driver has no `capabilities`', 'declare them')
  for (const { name, capability } of promises) {
    const there = typeof driver[name] === 'function'
    // Two operations of one capability come together.
    const promised = capabilities[capability] ?? hasAll(driver, capability)
    if (there === promised) continue
    const what = promised
      ? `promises \`${capability}\`, and has no method`
      : `has a method that \`${capability}\` denies:`
    throw invalidDriver(`the driver ${what} \`${name}\``, 'let the capabilities and the methods agree')
  }
}

/** The capabilities of the adapter that is made of a driver: stated ones, and those that its methods show. */
export function capabilitiesOf(driver: Driver): AdapterCapabilities {
  const shown: Partial<Record<OperationCapability, boolean>> = {}
  for (const { capability } of promises) shown[capability] ??= hasAll(driver, capability)
  return Object.freeze({ ...driver.capabilities, ...shown } as AdapterCapabilities)
}

function hasAll(driver: Driver, wanted: OperationCapability): boolean {
  for (const { name, capability } of promises) {
    if (capability === wanted && typeof driver[name] !== 'function') return false
  }
  return true
}

function invalidDriver(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'defineAdapter', reason, remedy })
}
