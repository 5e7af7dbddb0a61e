import { UserError } from '@openai/agents-core'
import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { checkExecutor, checkFramework, checkWorkspace } from '@ws/tools/bridge'

const framework = { name: '@openai/agents-core', from: '0.20.0', importer: import.meta.url }

/** @param version default: the installed version @throws UserError */
export function checkSdk(operation: string, version?: string): void {
  inWordsOfTheSdk(() => checkFramework(operation, { ...framework, version }))
}

export function checkGiven(given: unknown, operation: string): asserts given is Workspace {
  checkSdk(operation)
  inWordsOfTheSdk(() => checkWorkspace(given, operation))
}

export function checkCommands(workspace: Workspace, operation: string): void {
  inWordsOfTheSdk(() => checkExecutor(workspace, operation))
}

/** @throws UserError for a `WorkspaceError` */
export function inWordsOfTheSdk<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw isWorkspaceError(error) ? new UserError(error.message) : error
  }
}
