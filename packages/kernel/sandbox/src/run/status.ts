import { readSync } from 'node:fs'
import { constants } from 'node:os'

export interface LoaderReport {
  /** True if the loader reached the last step before the command. */
  readonly ready: boolean
  /** The step that failed. The command then did not run. */
  readonly failure?: { readonly step: string; readonly errno: number }
  readonly exitCode?: number
  readonly signal?: NodeJS.Signals
  readonly survivors: boolean
}

const longestReport = 4096

/** Reads the records of the status file: `ready`, `fail STEP ERRNO`, `exit N`, `signal N`, `survivors`. */
export function readReport(fd: number): LoaderReport {
  const buffer = Buffer.alloc(longestReport)
  const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, longestReport, 0))
  const failure = /^fail (\S+) (\d+)$/m.exec(text)
  const exit = /^exit (\d+)$/m.exec(text)
  const signal = /^signal (\d+)$/m.exec(text)
  return {
    ready: /^ready$/m.test(text),
    ...(failure ? { failure: { step: failure[1] ?? '', errno: Number(failure[2]) } } : {}),
    ...(exit ? { exitCode: Number(exit[1]) } : {}),
    ...(signal ? { signal: signalName(Number(signal[1])) } : {}),
    survivors: /^survivors$/m.test(text),
  }
}

const namesByNumber = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
)

/** Returns the name of a signal. Real-time signals, which have no name in Node, become `SIG34` and so on. */
function signalName(number: number): NodeJS.Signals {
  return namesByNumber.get(number) ?? (`SIG${number}` as NodeJS.Signals)
}

export function errnoName(errno: number): string {
  return Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? `errno ${errno}`
}
