import { getSystemErrorMessage } from 'node:util'

import { isWorkspaceError, paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

import { asBreach } from '../errors.ts'
import { outputAt, workspaceAt } from '../paths.ts'
import type { StepFailure } from '../run/types.ts'

export interface FailurePlaces {
  readonly workspace: StorageAdapter
  readonly output: StorageAdapter
  readonly staging: StorageAdapter | undefined
}

/** A failure without host paths: system errors are reworded, and directories get their names inside the step. */
export function failureOf(error: unknown, places: FailurePlaces): StepFailure {
  const known = asBreach(error)
  if (isWorkspaceError(known)) {
    const { code, path, rule, message } = known
    return { code, message, ...(path === undefined ? {} : { path }), ...(rule === undefined ? {} : { rule }) }
  }
  if (!(error instanceof Error)) return { message: 'the step failed' }
  return systemFailure(error) ?? { message: withoutPlaces(error.message, places) }
}

function systemFailure(error: Error): StepFailure | undefined {
  const { code, errno, syscall } = error as NodeJS.ErrnoException
  if (typeof code !== 'string' || typeof errno !== 'number' || typeof syscall !== 'string') return undefined
  const [call] = syscall.split(' ')
  return { code, message: `${code}: ${getSystemErrorMessage(errno)}, by the call \`${call}\` of the type of step` }
}

function withoutPlaces(message: string, { workspace, output, staging }: FailurePlaces): string {
  const names = [
    [staging, outputAt],
    [output, outputAt],
    [workspace, workspaceAt],
  ] as const
  const found = names.flatMap(([adapter, name]) => {
    const host = adapter?.hostPath?.(paths.mountRoot)
    return host === undefined || host === '/' ? [] : [[host as string, name] as const]
  })
  // Replace longer paths first, since the output can lie in the workspace.
  const longestFirst = found.toSorted(([one], [other]) => other.length - one.length)
  return longestFirst.reduce((text, [host, name]) => text.replaceAll(host, name), message)
}
