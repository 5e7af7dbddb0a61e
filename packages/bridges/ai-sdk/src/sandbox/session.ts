import type { Workspace } from '@ws/core'
import { checkExecutor, checkWorkspace, describeWorkspace, runCommand } from '@ws/tools/bridge'
import type { Experimental_SandboxSession } from 'ai'

import { checkAiSdk } from '../framework.ts'
import { createFileMethods } from './files.ts'
import { createSpawn } from './spawn.ts'

export interface SandboxSessionOptions {
  /** Text for the model's instructions. Default: the root, the mounts, and how commands run. */
  readonly description?: string | undefined
}

/**
 * Makes the sandbox session of a workspace, for `experimental_sandbox` and for tools that take one. Files and commands are
 * those of the workspace, at the same paths, under its rules. Relative paths start at the workspace's root.
 *
 * Methods reject with a `WorkspaceError` where the workspace refuses. `run` resolves all the same: a command that is refused
 * has the exit code 126, and `stderr` gives the reason and the remedy. It also names the rules that a failed command ran into.
 *
 * The workspace stays its creator's to close.
 *
 * @throws WorkspaceError `EINVAL` for a workspace of another shape, `ENOEXECUTOR` for one without executor, `ENOTSUP` for a
 * version of the AI SDK that is not supported
 */
export function createSandboxSession(
  workspace: Workspace,
  { description }: SandboxSessionOptions = {},
): Experimental_SandboxSession {
  checkWorkspace(workspace, 'createSandboxSession')
  checkExecutor(workspace, 'createSandboxSession')
  checkAiSdk('createSandboxSession')
  return {
    description: description ?? describeWorkspace(workspace),
    ...createFileMethods(workspace),
    spawn: createSpawn(workspace),
    async run({ command, workingDirectory, env, abortSignal }) {
      const options = { cwd: workingDirectory, env, signal: abortSignal }
      const { exitCode, stdout, stderr } = await runCommand(workspace, command, options)
      return { exitCode, stdout, stderr }
    },
  }
}
