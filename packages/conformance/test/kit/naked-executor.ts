import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

import type { CommandResult } from '@ws/core'
import { type CommandRequest, type Executor, guaranteeFields, type Guarantees } from '@ws/core/executor'
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

function start({ command, timeout, stdin }: CommandRequest, cwd: string) {
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
  const result = (async (): Promise<CommandResult> => {
    const collect = Promise.all([buffer(child.stdout), buffer(child.stderr)])
    const [exitCode, signal] = (await once(child, 'exit')) as [number | null, string | null]
    // what it left behind holds the streams open
    setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), 50)
    const [stdout, stderr] = await collect.catch(() => [Buffer.alloc(0), Buffer.alloc(0)] as const)
    const timedOut = signal === 'SIGKILL'
    return {
      exitCode,
      signal,
      timedOut,
      stdout: stdout.toString(),
      stderr: stderr.toString(),
      stdoutBytes: stdout.length,
      stderrBytes: stderr.length,
      truncated: false,
      duration: 0,
      executor: 'naked',
    }
  })()
  return {
    stdout: Readable.from([]),
    stderr: Readable.from([]),
    kill: () => child.kill(),
    wait: () => result,
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await result
    },
  }
}
