import { readdirSync, readFileSync } from 'node:fs'

/** A process of this machine. */
export interface FoundProcess {
  readonly pid: number
  /** Its words, separated by spaces. */
  readonly commandLine: string
}

/** Processes of this machine whose command line holds a word, this one excepted. */
export function processesWith(word: string): FoundProcess[] {
  const found: FoundProcess[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      const commandLine = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ')
      if (commandLine.includes(word)) found.push({ pid: Number(name), commandLine })
    } catch {
      // It has ended meanwhile.
    }
  }
  return found
}
