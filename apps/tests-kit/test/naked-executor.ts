import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

import {
  type CommandRequest,
  type Executor,
  type ExecutorResult,
  guaranteeFields,
  type Guarantees,
} from '@ws/core/executor'
import { createCommandOutput } from '@ws/sandbox'
import { ordinaryOwner } from '@ws/test-fixtures'

/** It claims everything. */
const boasted = Object.fromEntries(guaranteeFields.map((field) => [field, 'kernel'])) as unknown as Guarantees

/**
 * An executor that holds nothing of what it declares: commands run on this machine as they are, in the project's real
 * directory, which `project` gives. A test of the kit is worth something only if it fails here.
 */
export function createNakedExecutor(project: () => string): Executor {
  return {
    name: 'naked',
    kind: 'process',
    probe: async () =>
      await Promise.resolve({ available: true, guarantees: boasted, missing: [], howToFix: [], details: {} }),
    attach: async () =>
      await Promise.resolve({
        guarantees: boasted,
        spawn: async (request: CommandRequest) => await Promise.resolve(start(request, project())),
        close: async () => await Promise.resolve(),
      }),
  }
}

function start(request: CommandRequest, cwd: string) {
  const { command, timeout, stdin } = request
  // never as root: what gets through does its harm
  const asOwner = process.getuid?.() === 0 ? ordinaryOwner() : {}
  const child = spawn('/bin/bash', ['-c', command], {
    ...asOwner,
    cwd,
    timeout,
    killSignal: 'SIGKILL',
    env: process.env,
  })
  const input = child.stdin
  input.on('error', () => undefined)
  if (stdin === undefined || typeof stdin === 'string' || stdin instanceof Uint8Array) input.end(stdin)
  else Readable.from(stdin).pipe(input)
  const output = createCommandOutput(request)
  child.stdout.on('data', (chunk: Buffer) => void output.onStdout(chunk))
  child.stderr.on('data', (chunk: Buffer) => void output.onStderr(chunk))
  const result = (async (): Promise<ExecutorResult> => {
    const read = Promise.allSettled([finished(child.stdout), finished(child.stderr)])
    const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null]
    // processes that it left hold the streams open
    setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), 50)
    await read
    const timedOut = signal === 'SIGKILL'
    return {
      exitCode,
      signal,
      timedOut,
      ...output.end(),
      duration: 0,
      executor: 'naked',
    }
  })()
  return {
    ...output.readers,
    kill: () => child.kill(),
    wait: () => result,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await result
    },
  }
}
