import { randomUUID } from 'node:crypto'

let start = ''
let prefix = '.ws-tmp-'

/** Sets the prefix of temporary names. The local adapter hides files with such names, and removes files of ended processes. */
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
