import type { Workspace } from '@ws/core'
import { checkExecutor, checkWorkspace, describeWorkspace, runCommand } from '@ws/tools/bridge'
import type { Experimental_SandboxSession } from 'ai'

import { checkAiSdk } from '../framework.ts'
import { createFileMethods } from './files.ts'
import { createSpawn } from './spawn.ts'

export interface SandboxSessionOptions {
  /** Text for the model's instructions. Default: the root, the mounts, and the way commands run. */
  readonly description?: string | undefined
}

/**
 * Makes a workspace's sandbox session, for `experimental_sandbox` and tools. Relative paths start at the workspace's root.
 * Methods reject with a `WorkspaceError` for a refusal. `run` resolves with exit code 126, and with reason and remedy in `stderr`.
 * `stderr` also names the rules that made a command fail. The caller closes the workspace.
 * @throws WorkspaceError `EINVAL` for another value than a workspace, `ENOEXECUTOR` without executor, `ENOTSUP` for an unsupported AI SDK
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
