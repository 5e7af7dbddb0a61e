import type { Workspace } from '@ws/core'
import { checkExecutor, checkFramework, checkWorkspace, runCommand } from '@ws/tools/bridge'
import type { CommandResult, Sandbox } from 'bash-tool'

/** Milliseconds that a command gets by default. */
const defaultTimeout = 120_000

export interface SandboxOptions {
  /** Milliseconds for each command. Default 120,000. */
  readonly timeout?: number | undefined
  /** Ends commands and file operations that are on their way. bash-tool passes no signal of its own. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Makes the sandbox for `createBashTool({ sandbox, destination: workspace.root })` of bash-tool: commands and files of the
 * workspace, by whichever executor it has.
 *
 * A command that the workspace refuses has the exit code 126, and a command that took too long 124. `stderr` gives the reason
 * and the remedy. `readFile` and `writeFiles` reject with a `WorkspaceError`, whose message the AI SDK shows the model.
 *
 * @throws WorkspaceError `ENOEXECUTOR` without executor, `EINVAL` where `workspace` is not a workspace, `ENOTSUP` for a version of
 * bash-tool that is not supported
 */
export function createSandbox(
  workspace: Workspace,
  { timeout = defaultTimeout, signal }: SandboxOptions = {},
): Sandbox {
  checkFramework('createSandbox', { name: 'bash-tool', from: '1.3.19', importer: import.meta.url })
  checkWorkspace(workspace, 'createSandbox')
  checkExecutor(workspace, 'createSandbox')
  return {
    async executeCommand(command: string): Promise<CommandResult> {
      const { stdout, stderr, exitCode } = await runCommand(workspace, command, { timeout, signal })
      return { stdout, stderr, exitCode }
    },
    readFile: (path: string) => workspace.readText(path, { signal }),
    async writeFiles(files: { path: string; content: string | Buffer }[]): Promise<void> {
      for (const { path, content } of files) await workspace.write(path, content, { signal })
    },
  }
}
