import { quoteForShell } from '@ws/core/executor'

import type { Machine } from '../contract.ts'
import { Pipe } from '../pipe.ts'

/** The parts of a `Sandbox` of the package `e2b` that are used here. */
interface E2bSandbox {
  readonly commands: {
    run(command: string, options: E2bStart): Promise<E2bCommand>
    sendStdin(pid: number, data: Uint8Array): Promise<void>
    closeStdin(pid: number): Promise<void>
  }
  readonly files: { write(path: string, data: Blob): Promise<unknown> }
}

interface E2bStart {
  background: true
  cwd?: string
  envs?: Record<string, string>
  stdin?: boolean
  timeoutMs?: number
  signal?: AbortSignal
  onStdout?: (data: string) => void | Promise<void>
  onStderr?: (data: string) => void | Promise<void>
}

interface E2bCommand {
  readonly pid: number
  wait(): Promise<{ readonly exitCode: number }>
  kill(): Promise<unknown>
}

/** Makes a machine of a sandbox of E2B. The caller stops the sandbox. */
export function createE2bMachine({ commands, files }: E2bSandbox): Machine {
  return {
    name: 'e2b',
    hasInput: true,
    async start(argv, { cwd, env, hasInput = false } = {}) {
      const [stdout, stderr] = [new Pipe(), new Pipe()]
      const command = await commands.run(argv.map((word) => quoteForShell(word)).join(' '), {
        background: true,
        timeoutMs: 0, // no limit
        stdin: hasInput,
        ...(cwd !== undefined && { cwd }),
        ...(env !== undefined && { envs: { ...env } }),
        onStdout: (data) => stdout.listen(Buffer.from(data)),
        onStderr: (data) => stderr.listen(Buffer.from(data)),
      })
      const { pid } = command
      const ended = command.wait().then(({ exitCode }) => exitCode, statusOf)
      const end = () => [stdout, stderr].forEach((pipe) => pipe.end())
      ended.then(end, end)
      return {
        stdout,
        stderr,
        ...(hasInput && {
          stdin: { write: (bytes) => commands.sendStdin(pid, bytes), end: () => commands.closeStdin(pid) },
        }),
        kill: async () => void (await command.kill()),
        wait: () => ended,
      }
    },
    put: async (content, { path }) => void (await files.write(path, new Blob(await Array.fromAsync(content)))),
  }
}

/** E2B rejects with an error that has the status, where it is not 0. */
function statusOf(error: unknown): number {
  if (error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number') return error.exitCode
  throw error
}
