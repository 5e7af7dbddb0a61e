import { isWorkspaceError } from '@ws/core'

import { inOwnWords } from './own-words.ts'
import { exitCodes, signalExitCode } from './exit-codes.ts'
import { type Called, describeMissing, MissingPackagesError } from './optional/packages.ts'

/** Wrong arguments or config file. The message contains fault, place and remedy. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** An early end without message: by Ctrl-C, or because the reader closed the output. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  readonly exitCode: number

  constructor(signal: string) {
    super(`ended by ${signal}`)
    this.exitCode = signalExitCode(signal)
  }
}

/** Standard output or input failed. The message has no path. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
}

export interface ErrorReport {
  readonly exitCode: number
  readonly line?: string
  readonly json?: Readonly<Record<string, unknown>>
}

/** The message and exit code for an error. Messages of unknown errors are hidden, since they may contain host paths. */
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
