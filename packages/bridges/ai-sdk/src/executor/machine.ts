import { quoteForShell } from '@ws/core/executor'
import type { Machine, MachineInput, MachineProcess, MachineStart } from '@ws/executor-machine'
import type { Experimental_WritableSandboxProcess } from '@ai-sdk/provider-utils'
import type { Experimental_SandboxSession } from 'ai'

/** A sandbox session as a machine. Its programs are lines of a shell. */
export function machineOf(session: Experimental_SandboxSession, name: string): Machine {
  return {
    name,
    hasInput: true,
    async start(argv, { cwd, env, hasInput = false, signal }: MachineStart = {}): Promise<MachineProcess> {
      const options = {
        command: argv.map((argument) => quoteForShell(argument)).join(' '),
        ...(cwd !== undefined && { workingDirectory: cwd }),
        ...(env !== undefined && { env: { ...env } }),
        ...(signal !== undefined && { abortSignal: signal }),
      }
      const process = await session.spawn(hasInput ? { ...options, stdin: true } : options)
      return {
        stdout: process.stdout,
        stderr: process.stderr,
        ...('stdin' in process && { stdin: inputOf(process) }),
        kill: async () => await process.kill(),
        wait: async () => (await process.wait()).exitCode,
      }
    },
    async put(content, { path, signal }) {
      const stream = ReadableStream.from(content) as ReadableStream<Uint8Array>
      await session.writeFile({ path, content: stream, ...(signal !== undefined && { abortSignal: signal }) })
    },
  }
}

function inputOf({ stdin }: Experimental_WritableSandboxProcess): MachineInput {
  const writer = stdin.getWriter()
  return { write: (bytes) => writer.write(bytes), end: () => writer.close() }
}
