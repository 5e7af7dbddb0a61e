import type { CommandRequest, ExecutorResult, KillSignal, StartedCommand } from '@ws/core/executor'
import { createCommandOutput, type OutputListener, type RunningProcess } from '@ws/process'

import type { ViewMount } from './paths/path-view.ts'
import { createStripper } from './strip.ts'

/** The output of a command, with paths put right before anybody sees it. */
export function createOutput(mounts: readonly ViewMount[], request: CommandRequest) {
  const output = createCommandOutput(request)
  const strip = (next: OutputListener) => {
    const stripper = createStripper(mounts)
    return {
      push: (chunk: Uint8Array) => next(stripper.push(chunk)),
      end: () => void next(stripper.end()),
    }
  }
  const [stdout, stderr] = [strip(output.onStdout), strip(output.onStderr)]
  return {
    ...output,
    onStdout: stdout.push,
    onStderr: stderr.push,
    /** Hands the rest on. */
    end() {
      stdout.end()
      stderr.end()
      return output.end()
    },
  }
}

export interface FollowOptions {
  readonly process: RunningProcess
  readonly output: ReturnType<typeof createOutput>
}

/** Follows a started command to its end. */
export function followCommand({ process, output }: FollowOptions): StartedCommand {
  let ended = false
  const result = finish()
  result.catch(() => undefined)

  async function finish(): Promise<ExecutorResult> {
    try {
      const { exitCode, signal, timedOut, duration, survivors } = await process.wait()
      return {
        exitCode,
        // A supervisor that gets the order to kill everything before it is ready dies of the order itself.
        signal: signal === 'SIGPWR' ? 'SIGKILL' : signal,
        ...output.end(),
        timedOut,
        duration,
        executor: 'sanitize',
        ...(survivors && { survivors: true as const }),
      }
    } finally {
      ended = true
      output.end()
    }
  }

  return {
    ...output.readers,
    kill: (signal: KillSignal = 'SIGTERM') => !ended && process.kill(signal),
    get survivors() {
      return process.survivors
    },
    wait: () => result,
    async [Symbol.asyncDispose]() {
      process.kill('SIGKILL')
      await result.catch(() => undefined)
    },
  }
}
