import { WorkspaceError } from '../../errors.ts'
import { hasMethods, option } from '../../options/shapes.ts'
import type { AdapterCapabilities } from '../../contract/capabilities.ts'
import type { Driver, DriverCapabilities } from '../../contract/driver.ts'
import type { InnerDriver } from '../../contract/inner.ts'
import {
  operations,
  type OperationCapability,
  type OperationFacts,
  type OptionalOperation,
} from '../../contract/operations.ts'

const always = ['stat', 'read', 'write', 'list', 'createDirectory', 'delete', 'move', 'copy'] as const

export type Whole = InnerDriver & Required<Pick<InnerDriver, OptionalOperation>>

/** The methods of each optional capability. Computed once, since a process can have many adapters. */
const promises = [
  ...Map.groupBy(
    Object.entries<OperationFacts>(operations).filter(([, { capability }]) => capability !== undefined),
    ([, { capability }]) => capability as OperationCapability,
  ),
].map(([capability, found]) => ({ capability, names: found.map(([name]) => name as OptionalOperation) }))

/** The latest computed capabilities of each driver. `methods`: one bit for each optional capability whose methods the driver had then. */
const made = new WeakMap<DriverCapabilities, { readonly methods: number; readonly capabilities: AdapterCapabilities }>()

export function checkDriver(driver: Driver): void {
  if (!hasMethods(driver, ...always)) {
    const lacking = always.find((name) => !hasMethods(driver, name)) ?? 'stat'
    throw invalidDriver(`the driver has no method \`${lacking}\``, 'write it')
  }
  const { name: given, capabilities } = driver
  if (!option.text.accepts(given)) throw invalidDriver('the driver has no `name`', 'give it one, for messages')
  if (!option.object.accepts(capabilities)) throw invalidDriver('the driver has no `capabilities`', 'declare them')
  for (const { names, capability } of promises) {
    // A capability with two operations needs both methods.
    const promised = capabilities[capability] ?? hasAll(driver, names)
    for (const name of names) {
      if ((typeof driver[name] === 'function') === promised) continue
      const what = promised
        ? `promises \`${capability}\`, and has no method`
        : `has a method that \`${capability}\` denies:`
      throw invalidDriver(`the driver ${what} \`${name}\``, 'let the capabilities and the methods agree')
    }
  }
}

/** Returns the stated capabilities, and adds those that follow from the driver's methods. */
export function capabilitiesOf(driver: Driver): AdapterCapabilities {
  const { capabilities: stated } = driver
  let methods = 0
  for (const [bit, { names }] of promises.entries()) if (hasAll(driver, names)) methods |= 1 << bit
  const before = made.get(stated)
  if (before?.methods === methods) return before.capabilities
  const shown = Object.fromEntries(promises.map(({ capability }, bit) => [capability, (methods & (1 << bit)) !== 0]))
  const capabilities = Object.freeze({ ...stated, ...shown } as AdapterCapabilities)
  if (Object.isFrozen(stated)) made.set(stated, { methods, capabilities })
  return capabilities
}

function hasAll(driver: Driver, names: readonly OptionalOperation[]): boolean {
  for (const name of names) if (typeof driver[name] !== 'function') return false
  return true
}

function invalidDriver(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'defineAdapter', reason, remedy })
}
