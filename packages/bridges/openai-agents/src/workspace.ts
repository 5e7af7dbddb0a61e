import { UserError } from '@openai/agents-core'
import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { checkExecutor, checkFramework, checkWorkspace } from '@ws/tools/bridge'

const framework = { name: '@openai/agents-core', from: '0.20.0', importer: import.meta.url }

/** Checks the version of the SDK. @param version Default: the installed one @throws UserError */
export function checkSdk(operation: string, version?: string): void {
  inWordsOfTheSdk(() => checkFramework(operation, { ...framework, version }))
}

/** @throws UserError where it is not a workspace, and for a version of the SDK that is not supported */
export function checkGiven(given: unknown, operation: string): asserts given is Workspace {
  checkSdk(operation)
  inWordsOfTheSdk(() => checkWorkspace(given, operation))
}

/** @throws UserError where commands cannot run */
export function checkCommands(workspace: Workspace, operation: string): void {
  inWordsOfTheSdk(() => checkExecutor(workspace, operation))
}

function inWordsOfTheSdk(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw isWorkspaceError(error) ? new UserError(error.message) : error
  }
}
