import type { RunningCommand, Workspace } from '@ws/core'
import type { Experimental_SandboxProcess, Experimental_SandboxSession } from 'ai'

type Spawn = Experimental_SandboxSession['spawn']
type SpawnOptions = Parameters<Spawn>[0]
type WritableProcess = Experimental_SandboxProcess & { readonly stdin: WritableStream<Uint8Array> }

/** Makes `spawn`. It rejects where the workspace refuses the command, or cannot keep its standard input open. */
export function createSpawn(workspace: Workspace): Spawn {
  const spawn = async (options: SpawnOptions): Promise<Experimental_SandboxProcess | WritableProcess> => {
    const { command, workingDirectory, env, abortSignal, stdin = false } = options
    const running = await workspace.spawn(command, {
      cwd: workingDirectory,
      env,
      signal: abortSignal,
      writableStdin: stdin,
    })
    const process = processOf(running)
    return stdin ? { ...process, stdin: inputOf(running) } : process
  }
  // one function for the three signatures: `stdin` is there exactly where it was asked for
  return spawn as Spawn
}

function processOf(running: RunningCommand): Experimental_SandboxProcess {
  return {
    stdout: ReadableStream.from(running.stdout) as ReadableStream<Uint8Array>,
    stderr: ReadableStream.from(running.stderr) as ReadableStream<Uint8Array>,
    async wait() {
      const { exitStatus } = await running.wait()
      return { exitCode: exitStatus }
    },
    async kill() {
      // the whole process tree; nothing of it is left when this resolves
      running.kill('SIGKILL')
      await running.wait().catch(() => undefined)
    },
  }
}

function inputOf(running: RunningCommand): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (chunk) => running.writeInput(chunk),
    close: () => running.endInput(),
    abort: () => running.endInput(),
  })
}
