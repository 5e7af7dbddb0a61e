import { isWorkspaceError } from '@ws/core'

import { inOwnWords } from './own-words.ts'
import { exitCodes, signalExitCode } from './exit-codes.ts'
import { type Called, describeMissing, MissingPackagesError } from './optional/packages.ts'

/** Wrong arguments or a wrong config file; the message says what, where, and how to mend it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Everything ends early without a message: Ctrl-C, or the reader has closed the output. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  readonly exitCode: number

  constructor(signal: string) {
    super(`ended by ${signal}`)
    this.exitCode = signalExitCode(signal)
  }
}

/** Standard output or input failed; the message has no path, since the streams have none. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
}

export interface ErrorReport {
  readonly exitCode: number
  /** One line for people; absent where nothing is to be said. */
  readonly line?: string
  /** The same for programs. */
  readonly json?: Readonly<Record<string, unknown>>
}

/** The message and the exit code for an error. Nothing of an unknown one is shown, since it may hold host paths. */
export function describeError(error: unknown, called: Called = { command: '', options: {} }): ErrorReport {
  if (error instanceof Interruption) return { exitCode: error.exitCode }
  if (error instanceof UsageError) return report(exitCodes.usage, error.message, { code: 'EUSAGE' })
  if (error instanceof MissingPackagesError) {
    const { packages } = error
    return report(exitCodes.usage, describeMissing(packages, called), { code: 'EUSAGE', packages })
  }
  if (error instanceof StreamError) return report(exitCodes.failed, error.message, { code: 'EIO' })
  if (isWorkspaceError(error)) {
    const told = inOwnWords(error, called.command)
    return report(exitCodes.failed, told.message, told.toJSON())
  }
  const line = 'something unexpected failed within ws; set WS_DEBUG=1 to see where'
  return report(exitCodes.failed, debugging() && error instanceof Error ? (error.stack ?? line) : line, { code: 'EIO' })
}

const debugging = (): boolean => process.env['WS_DEBUG'] === '1'

function report(exitCode: number, line: string, details: Readonly<Record<string, unknown>>): ErrorReport {
  return { exitCode, line, json: { error: { ...details, message: line } } }
}
