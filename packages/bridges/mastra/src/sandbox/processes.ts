import { SandboxExecutionError, SandboxProcessManager } from '@mastra/core/workspace'
import type { ProcessHandle, ProcessInfo, SpawnProcessOptions } from '@mastra/core/workspace'
import { isWorkspaceError } from '@ws/core'
import type { RunningCommand, Workspace } from '@ws/core'
import { refusedExitCode } from '@ws/tools/bridge'

import { Process } from './process.ts'

/** Mastra itself ends a process whose signal aborts. */
export class ProcessManager extends SandboxProcessManager {
  readonly #workspace: Workspace
  #count = 0

  constructor(workspace: Workspace) {
    super()
    this.#workspace = workspace
  }

  override async spawn(command: string, options: SpawnProcessOptions = {}): Promise<ProcessHandle> {
    this.#count += 1
    const process = new Process(String(this.#count), options)
    const readsAllFirst = this.#workspace.executor?.guarantees.processes === 'interpreter'
    process.follow(await this.#start(command, options, process), readsAllFirst)
    this._tracked.set(process.pid, process)
    return process
  }

  override async list(): Promise<ProcessInfo[]> {
    return [...this._tracked.values()].map(({ pid, command, exitCode }) => ({
      pid,
      running: exitCode === undefined,
      ...(command !== undefined && { command }),
      ...(exitCode !== undefined && { exitCode }),
    }))
  }

  async endAll(): Promise<void> {
    await Promise.all(
      [...this._tracked.values()].map(async (process) => {
        await process.kill()
        await process.wait()
      }),
    )
  }

  async #start(
    command: string,
    { cwd, env, timeout, stdinMode = 'pipe' }: SpawnProcessOptions,
    process: Process,
  ): Promise<RunningCommand> {
    try {
      return await this.#workspace.spawn(command, {
        cwd,
        env: definedOf(env),
        timeout,
        writableStdin: stdinMode === 'pipe',
        onOutput: (chunk) => process.take(chunk),
      })
    } catch (error) {
      if (!isWorkspaceError(error)) throw error
      throw new SandboxExecutionError(error.message, refusedExitCode, '', `${error.message}\n`)
    }
  }
}

function definedOf(env: NodeJS.ProcessEnv = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
