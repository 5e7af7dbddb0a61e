import { randomUUID } from 'node:crypto'

import { MastraSandbox } from '@mastra/core/workspace'
import type { ProviderStatus, SandboxInfo } from '@mastra/core/workspace'
import type { Workspace } from '@ws/core'
import { checkExecutor, describeWorkspace } from '@ws/tools/bridge'

import { checkArguments } from '../framework.ts'
import { ProcessManager } from './processes.ts'

export interface MastraSandboxOptions {
  /** A name of your own. Default: a random one. */
  readonly id?: string | undefined
  /** Added to the clean environment of each command. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

/**
 * Makes the `sandbox` of a Mastra workspace from an @ws workspace: commands and processes on the files of
 * `createMastraFilesystem`, under the same rules. Give both to `new Workspace({ filesystem, sandbox })`.
 *
 * If the workspace refuses to start a command, the call rejects with `SandboxExecutionError`. Its message and its `stderr` give
 * the reason and the remedy. The `stderr` of a failed command ends with the rules that it ran into. Stopping the sandbox ends
 * its processes. The @ws workspace stays its creator's to close.
 *
 * @throws WorkspaceError `EINVAL` for a value that is not a workspace, `ENOEXECUTOR` for one without executor, `ENOTSUP` for a
 * version of Mastra that is not supported
 */
export function createMastraSandbox(workspace: Workspace, options: MastraSandboxOptions = {}): MastraSandbox {
  checkArguments(workspace, 'createMastraSandbox')
  checkExecutor(workspace, 'createMastraSandbox')
  return new Sandbox(workspace, new ProcessManager(workspace), options)
}

class Sandbox extends MastraSandbox {
  readonly id: string
  override readonly name = 'WsSandbox'
  readonly provider = 'ws'
  status: ProviderStatus = 'pending'
  readonly #workspace: Workspace
  readonly #processes: ProcessManager
  readonly #createdAt = new Date()

  constructor(
    workspace: Workspace,
    processes: ProcessManager,
    { id = `ws-sandbox-${randomUUID()}`, env = {} }: MastraSandboxOptions,
  ) {
    super({ name: 'WsSandbox', processes, env: { ...env }, workingDirectory: workspace.root })
    this.id = id
    this.#workspace = workspace
    this.#processes = processes
  }

  override async start(): Promise<void> {
    // the workspace is there already
  }

  override async stop(): Promise<void> {
    await this.#processes.endAll()
  }

  override async destroy(): Promise<void> {
    await this.#processes.endAll()
  }

  override getInfo(): SandboxInfo {
    const { id, name, provider, status } = this
    return { id, name, provider, status, createdAt: this.#createdAt }
  }

  override getInstructions(): string {
    return describeWorkspace(this.#workspace)
  }
}
