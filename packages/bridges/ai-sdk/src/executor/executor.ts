import { WorkspaceError } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createMachineExecutor } from '@ws/executor-machine'
import type { Experimental_SandboxSession } from 'ai'

import { checkAiSdk } from '../framework.ts'
import { machineOf } from './machine.ts'

export interface SandboxExecutorOptions {
  /** The name in messages and results. Default `sandbox`. */
  readonly name?: string | undefined
}

/**
 * Runs a workspace's commands in a sandbox of the AI SDK, as `createMachineExecutor` does on other machines, on a copy of the workspace.
 * The copy's directory must be empty at first. The executor declares no guarantee.
 * The sandbox needs a POSIX shell, GNU find, GNU tar and coreutils, and serves one workspace at a time. The caller stops the sandbox.
 * @throws WorkspaceError `EINVAL` for an invalid session, `ENOTSUP` for an unsupported AI SDK
 */
export function createSandboxExecutor(
  session: Experimental_SandboxSession,
  { name = 'sandbox' }: SandboxExecutorOptions = {},
): Executor {
  checkSession(session)
  checkAiSdk('createSandboxExecutor')
  return createMachineExecutor(machineOf(session, name))
}

const methods = ['spawn', 'writeFile'] as const satisfies readonly (keyof Experimental_SandboxSession)[]

function checkSession(session: unknown): void {
  const isSession =
    typeof session === 'object' &&
    session !== null &&
    methods.every((method) => typeof (session as Record<string, unknown>)[method] === 'function')
  if (isSession) return
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'createSandboxExecutor',
    reason: '`session` must be a sandbox session of the AI SDK',
    remedy: `give an object with ${methods.map((method) => `\`${method}\``).join(', ')}`,
  })
}
