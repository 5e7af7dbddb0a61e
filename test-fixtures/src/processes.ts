import { readdirSync, readFileSync } from 'node:fs'

export interface FoundProcess {
  readonly pid: number
  readonly commandLine: string
}

/** Processes with a word in their command line, except this one. */
export function processesWith(word: string): FoundProcess[] {
  const found: FoundProcess[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue
    try {
      const commandLine = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ')
      if (commandLine.includes(word)) found.push({ pid: Number(name), commandLine })
    } catch {
      // the process has ended
    }
  }
  return found
}
