import { randomUUID } from 'node:crypto'

import { MastraSandbox } from '@mastra/core/workspace'
import type { ProviderStatus, SandboxInfo } from '@mastra/core/workspace'
import type { Workspace } from '@ws/core'
import { checkExecutor, describeWorkspace } from '@ws/tools/bridge'

import { checkArguments } from '../framework.ts'
import { ProcessManager } from './processes.ts'

export interface MastraSandboxOptions {
  /** Default: a random id. */
  readonly id?: string | undefined
  /** Added to each command's clean environment. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
}

/**
 * Makes a Mastra workspace's `sandbox` for `new Workspace({ filesystem, sandbox })`, on the files of `createMastraFilesystem`.
 * A refused command rejects with `SandboxExecutionError`: its message and `stderr` give reason and remedy.
 * A failed command's `stderr` ends with the rules that made it fail. Stopping ends processes; the caller closes the workspace.
 * @throws WorkspaceError `EINVAL` for another value than a workspace, `ENOEXECUTOR` without executor, `ENOTSUP` for an unsupported Mastra
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
    // nothing to do: the workspace is open already
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
