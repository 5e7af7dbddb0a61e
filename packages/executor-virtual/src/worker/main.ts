import { Bash, type BashExecResult } from 'just-bash'
import { parentPort } from 'node:worker_threads'

import { BashFileSystem } from '../files/system.ts'
import { correctedCommands } from './commands.ts'
import type { Done, Task, ToWorker } from './protocol.ts'
import { numberedRedirections } from './redirections.ts'
import { createRemoteFiles } from './remote-files.ts'
import { wordError, wordRefusals } from './wording.ts'

// One command at a time: a command that loops holds up this thread, and nobody else.
parentPort?.on('message', (task: Task) => void run(task))

async function run({ port, command, cwd, env, stdin, limits }: Task): Promise<void> {
  const remote = createRemoteFiles(port)
  const files = new BashFileSystem(remote.files)
  const stop = new AbortController()
  port.on('message', (message: ToWorker) => {
    if (message.type === 'stop') stop.abort()
    else remote.receive(message)
  })
  const result = await interpret()
  const done: Done = {
    type: 'done',
    exitCode: result.exitCode,
    stdout: Buffer.from(result.stdout),
    stderr: Buffer.from(wordRefusals(result.stderr, files.failures)),
  }
  port.postMessage(done)

  async function interpret(): Promise<Pick<BashExecResult, 'stdout' | 'stderr' | 'exitCode'>> {
    try {
      const bash = new Bash({
        fs: files,
        customCommands: correctedCommands(files),
        cwd,
        env: { ...env },
        executionLimits: {
          maxCommandCount: limits.maxCommands,
          maxLoopIterations: limits.maxLoopIterations,
          maxCallDepth: limits.maxCallDepth,
          maxOutputSize: limits.maxOutputBytes,
          maxStringLength: limits.maxFileBytes,
          maxInputBytes: Math.max(limits.maxFileBytes, 512 * 1024 * 1024),
        },
        // Here it costs nobody anything: the globals it locks are this thread's own.
        defenseInDepth: true,
      })
      bash.registerTransformPlugin(numberedRedirections)
      return await bash.exec(command, {
        cwd,
        rawScript: true,
        signal: stop.signal,
        ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin).toString('latin1'), stdinKind: 'bytes' }),
      })
    } catch (error) {
      const words = wordError(error)
      if (words !== undefined) return { stdout: '', stderr: `bash: ${words}\n`, exitCode: 1 }
      // Other errors may hold paths of this machine.
      return { stdout: '', stderr: 'bash: the interpreter failed on this command\n', exitCode: 126 }
    }
  }
}
