import { WorkspaceError } from '../../errors.ts'
import { hasMethods } from '../../options/shapes.ts'
import type { Driver } from '../driver.ts'
import { operations, type AdapterOperation } from '../operations.ts'

const always = ['stat', 'read', 'write', 'list', 'createDirectory', 'delete', 'move', 'copy'] as const

/** @throws WorkspaceError `EINVAL` when a method is missing, or methods and capabilities do not agree */
export function checkDriver(driver: Driver): void {
  if (!hasMethods(driver, ...always)) {
    const lacking = always.find((name) => !hasMethods(driver, name)) ?? 'stat'
    throw invalidDriver(`the driver has no method \`${lacking}\``, 'write it')
  }
  for (const [name, { capability }] of Object.entries(operations) as [
    AdapterOperation,
    { capability?: keyof Driver['capabilities'] },
  ][]) {
    if (capability === undefined) continue
    const promised = driver.capabilities[capability] === true
    if (hasMethods(driver, name) === promised) continue
    const what = promised
      ? `promises \`${capability}\`, and has no method`
      : `has a method that \`${capability}\` denies:`
    throw invalidDriver(`the driver ${what} \`${name}\``, 'let the capabilities and the methods agree')
  }
}

function invalidDriver(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'defineAdapter', reason, remedy })
}
