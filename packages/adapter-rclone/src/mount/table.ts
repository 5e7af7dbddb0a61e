import { readFileSync } from 'node:fs'

export interface MountEntry {
  readonly type: string
  /** What is called the device. */
  readonly source: string
}

/** What is mounted at a host path, the topmost. Reads the mount table, which touches no mount and cannot hang. */
export function mountAt(path: string): MountEntry | undefined {
  let found: MountEntry | undefined
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const fields = line.split(' ')
    if (fields[4] === undefined || unescapeOctal(fields[4]) !== path) continue
    const dash = fields.indexOf('-', 6)
    found = { type: fields[dash + 1] ?? '', source: unescapeOctal(fields[dash + 2] ?? '') }
  }
  return found
}

/** Spaces, tabs, line breaks and backslashes are escaped, the rest stands as it is. */
function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
