import type { Workspace } from '@ws/core'
import { checkExecutor, checkFramework, checkWorkspace, runCommand } from '@ws/tools/bridge'
import type { CommandResult, Sandbox } from 'bash-tool'

const defaultTimeout = 120_000

interface SandboxOptions {
  /** Milliseconds for each command. Default 120,000. */
  readonly timeout?: number | undefined
  /** Ends running commands and file operations. bash-tool passes no signal of its own. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Makes the sandbox for `createBashTool({ sandbox, destination: workspace.root })` of bash-tool.
 * A refused command has the exit code 126, a command after its timeout 124; `stderr` gives reason and remedy.
 * `readFile` and `writeFiles` reject with a `WorkspaceError`, whose message the AI SDK shows to the model.
 * @throws WorkspaceError `ENOEXECUTOR` without executor, `EINVAL` for another value than a workspace, `ENOTSUP` for an unsupported
 * bash-tool
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
