import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'

import { type Executor, guaranteeFields, type Guarantees } from '@ws/core/executor'
import { type CommandPort, type CommandRun, defineExecutor } from '@ws/sandbox'
import { ordinaryOwner } from '@ws/test-fixtures'

/** It claims everything. */
const boasted = Object.fromEntries(guaranteeFields.map((field) => [field, 'kernel'])) as unknown as Guarantees

/**
 * An executor that holds nothing of what it declares: commands run on this machine as they are, in the project's real
 * directory, which `project` gives. A test of the kit is worth something only if it fails here.
 */
export function createNakedExecutor(project: () => string): Executor {
  return defineExecutor<undefined, true>({
    name: 'naked',
    probe: async () => ({ found: true }),
    guarantees: () => boasted,
    attach: () => ({ prepare: async () => ({}), start: async (_prepared, run) => start(run, project()) }),
  })(undefined)
}

function start({ request, hasInput, onStdout, onStderr }: CommandRun, cwd: string): CommandPort {
  // never as root: what gets through does its harm
  const asOwner = process.getuid?.() === 0 ? ordinaryOwner() : {}
  const child = spawn('/bin/bash', ['-c', request.command], { ...asOwner, cwd, env: process.env })
  if (!hasInput) child.stdin.end()
  child.stdout.on('data', (chunk: Buffer) => void onStdout(chunk))
  child.stderr.on('data', (chunk: Buffer) => void onStderr(chunk))
  const exited = (async () => {
    const read = Promise.allSettled([finished(child.stdout), finished(child.stderr)])
    const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
    // processes that it left hold the streams open
    setTimeout(() => [child.stdout, child.stderr].forEach((stream) => stream.destroy()), 50)
    await read
    return status === null ? { signal: signal ?? 'SIGKILL' } : { status }
  })()
  const end = () => void child.kill('SIGKILL')
  return { stdin: child.stdin, signal: (name) => child.kill(name), end, exited }
}
