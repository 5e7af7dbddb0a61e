import { constants } from 'node:os'

import type { WorkspaceError } from '@ws/core'
import { execError, shortages } from '@ws/core/executor'
import type { CommandEnd, KnownEnd, ProcessResult } from '@ws/sandbox'

import type { FirstReport } from './first-process.ts'

/** How a command ended, or the known facts if the first process has not reported it. */
export interface ProotEnd extends CommandEnd {
  readonly report?: FirstReport | undefined
  /** The output of proot itself. */
  readonly said?: string | undefined
}

/** @param ended absent if the first process has reported */
export function endOf(report: FirstReport, ended?: ProcessResult): ProotEnd {
  const { exitCode, signal } = report.ending ?? {}
  if (typeof exitCode === 'number') return { status: exitCode }
  if (typeof signal === 'number') return { signal: nameIn(constants.signals, signal) ?? `SIG${signal}` }
  return { lost: true, signal: ended?.signal ?? undefined, report, said: ended?.stderr.text }
}

/** Returns why a command did not start, if its end is unknown. */
export function explainFailure(end: ProotEnd, { result, request }: KnownEnd): WorkspaceError | undefined {
  const { report, said = '', signal } = end
  if (result.timedOut) return undefined
  if (report?.failure?.step === 'cwd') {
    return execError('ENOEXEC', `cannot be entered by commands (${errnoName(report.failure.errno)})`, {
      path: request.cwd,
      remedy: 'give a directory of the workspace that the policy lets commands enter',
    })
  }
  if (report?.failure !== undefined) {
    const name = errnoName(report.failure.errno)
    const native = Object.assign(new Error(`the first process failed at ${report.failure.step}`), { code: name })
    const shortage = shortages.named(name)
    if (shortage !== undefined) return shortages.refusal(shortage, { native })
    return execError('ENOEXEC', `the shell could not be started (${name})`, {
      remedy: 'tell the operator of this machine',
      native,
    })
  }
  if (report?.started === true || signal !== undefined) return undefined
  const shortage = shortages.inText(said)
  if (shortage !== undefined) return shortages.refusal(shortage, { native: new Error(said) })
  return execError('ENOEXEC', 'proot could not start the command', {
    remedy: 'ask the executor’s probe what is missing',
    native: new Error(said),
  })
}

const nameIn = (names: Readonly<Record<string, number>>, number: number): string | undefined =>
  Object.entries(names).find(([, value]) => value === number)?.[0]

const errnoName = (number: number): string => nameIn(constants.errno, number) ?? `errno ${number}`
