import { randomUUID } from 'node:crypto'

let start = ''
let prefix = '.ws-tmp-'

/**
 * Sets how names of temporary files begin. They are those of the local adapter, which shows them to callers never, and removes them
 * when the process that they name has ended.
 */
export function nameTemporaries(name: string): void {
  start = name
  prefix = name.slice(0, name.indexOf('-', 5) + 1)
}

export function isTemporary(name: string): boolean {
  return name.startsWith(prefix)
}

export function newTemporary(): string {
  return start + randomUUID()
}
