import { WorkspaceError } from '../../errors.ts'
import { hasMethods } from '../../options/shapes.ts'
import type { Driver } from '../driver.ts'
import { operations, type OperationFacts } from '../operations.ts'

const always = ['stat', 'read', 'write', 'list', 'createDirectory', 'delete', 'move', 'copy'] as const
/** Listed once: adapters can be many. */
const promises = Object.entries<OperationFacts>(operations).flatMap(([name, { capability }]) =>
  capability === undefined ? [] : [{ name, capability }],
)

/** @throws WorkspaceError `EINVAL` when a method is missing, or methods and capabilities do not agree */
export function checkDriver(driver: Driver): void {
  if (!hasMethods(driver, ...always)) {
    const lacking = always.find((name) => !hasMethods(driver, name)) ?? 'stat'
    throw invalidDriver(`the driver has no method \`${lacking}\``, 'write it')
  }
  for (const { name, capability } of promises) {
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
