import type { CommandResult, RunningCommand } from '@ws/core'
import type { CommandRequest, KillSignal } from '@ws/core/executor'
import { captureOutput, createOutputChannel, type ProcessResult, type RunningProcess } from '@ws/process'

import type { ViewMount } from './paths/path-view.ts'
import { createStripper } from './strip.ts'

/** One output stream: paths put right, captured, and handed to a reader. */
export function createOutput(mounts: readonly ViewMount[], maxBytes: number) {
  const stripper = createStripper(mounts)
  const capture = captureOutput({ maxBytes })
  const channel = createOutputChannel()
  const pass = (bytes: Uint8Array): void | Promise<void> => {
    if (bytes.length === 0) return
    capture.push(bytes)
    return channel.push(bytes)
  }
  return {
    output: channel.output,
    push: (chunk: Uint8Array) => pass(stripper.push(chunk)),
    /** Hands the rest on, and tells what was kept. */
    end() {
      void pass(stripper.end())
      channel.end()
      return capture.result()
    },
  }
}

export type Output = ReturnType<typeof createOutput>

export interface FollowOptions {
  readonly request: CommandRequest
  readonly process: RunningProcess
  readonly stdout: Output
  readonly stderr: Output
}

/** Follows a started command to its end. */
export function followCommand({ process, stdout, stderr }: FollowOptions): RunningCommand {
  let ended = false
  const result = finish()
  result.catch(() => undefined)

  async function finish(): Promise<CommandResult> {
    let closed: { readonly outputs: readonly [ReturnType<Output['end']>, ReturnType<Output['end']>] } | undefined
    const close = () => (closed ??= { outputs: [stdout.end(), stderr.end()] }).outputs
    try {
      return describe(await process.wait(), ...close())
    } finally {
      ended = true
      close()
    }
  }

  return {
    stdout: stdout.output,
    stderr: stderr.output,
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

function describe(
  process: ProcessResult,
  stdout: ReturnType<Output['end']>,
  stderr: ReturnType<Output['end']>,
): CommandResult {
  return {
    exitCode: process.exitCode,
    // A supervisor that was told to kill everything before it was ready has died of the order itself.
    signal: process.signal === 'SIGPWR' ? 'SIGKILL' : process.signal,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    timedOut: process.timedOut,
    truncated: stdout.truncated || stderr.truncated,
    duration: process.duration,
    executor: 'sanitize',
    ...(process.survivors && { survivors: true as const }),
  }
}
