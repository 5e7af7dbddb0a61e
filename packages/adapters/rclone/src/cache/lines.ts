import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

import { cacheError, unlessMissing } from './disk.ts'

/** A line that cancels all earlier lines with this name. */
interface Ended {
  readonly ended: string
}

/** Reads a list of JSON lines from the disk; empty without a file. Items that {@link appendEnd} cancelled are left out. */
export function readLines<Item extends object>(file: string, nameOf: (item: Item) => string): Item[] {
  let items: Item[] = []
  for (const line of allLines(file) as readonly (Item | Ended)[]) {
    if ('ended' in line) items = items.filter((item) => nameOf(item) !== line.ended)
    else items.push(line)
  }
  return items
}

function allLines(file: string): unknown[] {
  let text: string | undefined
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    text = unlessMissing(error)
  }
  return (text ?? '').split('\n').flatMap((line): unknown[] => {
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      return [] // an empty line, or the last line of a process that was killed
    }
  })
}

/** Adds items to a list of JSON lines. The file may end with a part of a line, whose writer was killed. */
export function appendLines(file: string, items: readonly object[]): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    appendFileSync(file, items.map((one) => `\n${JSON.stringify(one)}`).join(''), { mode: 0o600 })
  } catch (error) {
    throw cacheError(error)
  }
}

/** Cancels all earlier items with a name in a list of JSON lines. */
export function appendEnd(file: string, name: string): void {
  const line: Ended = { ended: name }
  appendLines(file, [line])
}
