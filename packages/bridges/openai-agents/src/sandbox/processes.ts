import type { ExecCommandArgs, SandboxExecResult, WriteStdinArgs } from '@openai/agents-core/sandbox'
import { elapsedSeconds, formatExecResponse, truncateOutput } from '@openai/agents-core/sandbox/internal'
import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'

import { workspacePath } from './paths.ts'
import { startOnPipes, startOnTerminal } from './process.ts'
import type { Process } from './process.ts'

/** Milliseconds that a call waits for a command's end, as in the SDK's own sessions. */
const defaultWait = 10_000
const defaultWaitForInput = 250

/** Commands that outlive their call. Each command has a number, for later reading and writing. */
export class Processes {
  readonly #workspace: Workspace
  readonly #running = new Map<number, Process>()
  #last = 0

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  async exec(args: ExecCommandArgs, env: Readonly<Record<string, string>>): Promise<SandboxExecResult> {
    const { cmd, workdir, shell, login, tty = false, yieldTimeMs = defaultWait, maxOutputTokens } = args
    const started = Date.now()
    const options = { cwd: workspacePath(workdir), env, shell, login }
    const process = await (tty ? startOnTerminal : startOnPipes)(this.#workspace, cmd, options)
    await process.settle(yieldTimeMs)
    const { exitCode } = process
    const { output, stdout, stderr } = process.read()
    const { text, originalTokenCount } = truncateOutput(output, maxOutputTokens)
    return {
      output: text,
      stdout,
      stderr,
      wallTimeSeconds: elapsedSeconds(started),
      ...(exitCode === undefined ? { sessionId: this.#keep(process) } : { exitCode }),
      ...(originalTokenCount !== undefined && { originalTokenCount }),
    }
  }

  async writeStdin(args: WriteStdinArgs): Promise<string> {
    const { sessionId, chars = '', yieldTimeMs = defaultWaitForInput, maxOutputTokens } = args
    const started = Date.now()
    const process = this.#running.get(sessionId)
    if (process === undefined) {
      const known = [...this.#running.keys()].join(', ')
      const remedy = known === '' ? 'no command runs' : `the sessions are ${known}`
      const output = `write_stdin failed: session not found: ${sessionId}; ${remedy}`
      return formatExecResponse({ output, wallTimeSeconds: 0, exitCode: 1 })
    }
    const refusal = await writeTo(process, chars)
    await process.settle(yieldTimeMs)
    const { exitCode } = process
    const { text, originalTokenCount } = truncateOutput(refusal + process.read().output, maxOutputTokens)
    if (exitCode !== undefined) this.#running.delete(sessionId)
    return formatExecResponse({
      output: text,
      wallTimeSeconds: elapsedSeconds(started),
      ...(exitCode === undefined ? { sessionId } : { exitCode }),
      ...(originalTokenCount !== undefined && { originalTokenCount }),
    })
  }

  async endAll(): Promise<void> {
    const all = [...this.#running.values()]
    this.#running.clear()
    await Promise.all(all.map((process) => process.end()))
  }

  #keep(process: Process): number {
    this.#last += 1
    this.#running.set(this.#last, process)
    return this.#last
  }
}

/** Writes to a process. Returns a reason if the command accepts no input; the command keeps running. */
async function writeTo(process: Process, chars: string): Promise<string> {
  if (process.exitCode !== undefined) return ''
  try {
    await process.write(chars)
    return ''
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return `write_stdin failed: the command takes no input: ${error.reason}; give it its input in the command line\n`
  }
}
