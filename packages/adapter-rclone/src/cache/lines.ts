import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A list on the disk that outlives the process, as the cache does: JSON, a line each. None where there is none. */
export function readLines(file: string): unknown[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line): unknown[] => {
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      return [] // the last line of a process that was killed
    }
  })
}

/** Adds to such a list. */
export function appendLines(file: string, items: readonly unknown[]): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  appendFileSync(file, items.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 })
}
