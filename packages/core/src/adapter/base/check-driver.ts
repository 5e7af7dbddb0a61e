import { WorkspaceError } from '../../errors.ts'
import { hasMethods, option } from '../../options/shapes.ts'
import type { Driver } from '../driver.ts'
import { operations, type AdapterOperation, type OperationFacts } from '../operations.ts'

const always = ['stat', 'read', 'write', 'list', 'createDirectory', 'delete', 'move', 'copy'] as const
/** Operations that a driver may lack. */
export const optional = [
  ...(['append', 'search', 'createSymlink', 'readSymlink'] as const),
  ...(['flush', 'hostPath', 'hostDirectory', 'createScratch'] as const),
] as const

/** A driver whose optional operations are called only where it has them. */
export type Whole = Driver & Required<Pick<Driver, (typeof optional)[number]>>

/** Listed once: adapters can be many. */
const promises = Object.entries<OperationFacts>(operations).flatMap(([name, { capability }]) =>
  capability === undefined ? [] : [{ name: name as AdapterOperation, capability }],
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
    const promised = capabilities[capability] === true
    if ((typeof driver[name] === 'function') === promised) continue
    const what = promised
      ? `promises \`${capability}\`, and has no method`
      : `has a method that \`${capability}\` denies:`
    throw invalidDriver(`the driver ${what} \`${name}\``, 'let the capabilities and the methods agree')
  }
}

function invalidDriver(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'defineAdapter', reason, remedy })
}
