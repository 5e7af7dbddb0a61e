// Imported before just-bash, because just-bash reads the replaced globals while it loads.
import './carry-bytes.ts'

import { limitPrograms } from '@ws/shell-tools'
import { codeOf, encodeText } from '@ws/shell-tools/files'
import { Bash, type BashExecResult } from '#just-bash'
import { parentPort } from 'node:worker_threads'

import { BashFileSystem } from '../files/system.ts'
import { guardedCommands } from './commands.ts'
import type { Done, Progress, WorkerCommand, ToWorker } from './protocol.ts'
import { createRemoteFiles } from './remote-files.ts'
import { findInternals } from './state/interpreter.ts'
import { repairInterpreter } from './interpreter/repaired.ts'
import { packState } from './state/carried.ts'
import { bindSession } from './state/shell.ts'
import { preparing } from './syntax/prepare.ts'
import { Session, stopMark } from './state/session.ts'
import { matchFor } from './patterns/engine.ts'
import { readsInput } from './syntax/input.ts'
import { curlWith } from './tools/curl.ts'
import { pythonWith } from './tools/python.ts'
import { wordError, wordRefusals } from './wording.ts'

/** Prefers the workspace's programs. After a lookup of a file `/bin/NAME`, just-bash would run its own command of that name. */
function preferOwnPrograms(bash: Bash, files: BashFileSystem): void {
  const { commands } = bash as unknown as { readonly commands: Map<string, unknown> }
  const get = commands.get.bind(commands)
  commands.get = (name) => (files.hasOwnProgram(name) ? undefined : get(name))
}

type Ending = Pick<BashExecResult, 'stdout' | 'stderr' | 'exitCode'>

// just-bash sends several file requests at once, and waits for the first failure. Without this handler, a further failure ends the thread.
process.on('unhandledRejection', () => undefined)

// The thread runs one command at a time: a loop blocks only this thread.
parentPort?.on('message', (task: WorkerCommand) => void run(task))

async function run({
  port,
  command,
  cwd,
  env,
  shellState,
  stdin,
  limits,
  hasNetwork,
  hasPython,
  stopping,
  root,
}: WorkerCommand): Promise<void> {
  const remote = createRemoteFiles(port)
  const stop = new AbortController()
  const stopped = new Int32Array(stopping)
  // Reads `stopped` without Atomics, which just-bash locks while a script runs.
  repairInterpreter(await findInternals())
  limitPrograms(limits.maxMemory)
  const session = await Session.open(() => stopped[0] !== 0)
  // A loop that receives no messages reads this property before its next statement.
  Object.defineProperty(stop.signal, 'aborted', {
    get() {
      session.check()
      return false
    },
  })
  session.report = (stdout, stderr, running) => {
    const bytes = (text: string) => Buffer.from(text, 'latin1')
    port.postMessage({ type: 'progress', stdout: bytes(stdout), stderr: bytes(stderr), running } satisfies Progress)
  }
  const files = new BashFileSystem(remote.files, { session, root })
  bindSession(files, session)
  matchFor(session)
  session.files = files
  session.carried = shellState
  port.on('message', (message: ToWorker) => {
    if (message.type === 'stop') session.wake()
    else remote.receive(message)
  })
  const python = pythonWith(remote.python)
  const further = {
    ...(hasNetwork && { curl: curlWith(remote.fetch) }),
    ...(hasPython && { python, python3: python }),
  }
  if (hasPython) session.interpreters.add('python').add('python3')
  const result = judge(await interpret())
  const done: Done = {
    type: 'done',
    exitCode: result.exitCode,
    stdout: encodeText(result.stdout),
    stderr: encodeText(wordRefusals(result.stderr.replaceAll(stopMark, ''), files.failures)),
    shellState: shellState === undefined ? undefined : session.shell && packState(session.shell),
  }
  port.postMessage(done)

  /** Corrects the end of a script: a refusal or a missing program must not have exit code 0. */
  function judge(ending: Ending): Ending {
    const { refusal, endedBy } = session
    if (refusal !== undefined) {
      const told = ending.stderr.includes(refusal) ? ending.stderr : `${ending.stderr}${refusal}`
      return { ...ending, stderr: told, exitCode: 126 }
    }
    if (endedBy !== undefined) {
      const hint = `bash: the script ended here, since \`${endedBy}\` is not there; ask \`command -v\` first, or test its status\n`
      return { ...ending, stderr: `${ending.stderr}${hint}`, exitCode: ending.exitCode === 0 ? 127 : ending.exitCode }
    }
    return ending
  }

  /** Waits for the input stream only if a command may read the input, since the stream may never end. */
  async function readInput(): Promise<Uint8Array | undefined> {
    return readsInput(command) ? remote.readInput() : undefined
  }

  async function interpret(): Promise<Ending> {
    try {
      const bash = new Bash({
        fs: files,
        customCommands: guardedCommands(session, further),
        cwd,
        env: { ...env },
        executionLimits: {
          maxCommandCount: limits.maxCommands,
          maxLoopIterations: limits.maxLoopIterations,
          maxAwkIterations: limits.maxLoopIterations,
          maxSedIterations: limits.maxLoopIterations,
          maxCallDepth: limits.maxCallDepth,
          // just-bash counts one operation for each character of a text that a pattern trims.
          maxGlobOperations: 100_000_000,
          maxOutputSize: limits.maxOutputBytes,
          maxStringLength: limits.maxFileBytes,
          maxInputBytes: Math.max(limits.maxFileBytes, 512 * 1024 * 1024),
        },
        defenseInDepth: true,
      })
      // just-bash's own method would guess whether output is bytes, and would decode text a second time.
      Object.defineProperty(bash, 'logResult', { value: (result: BashExecResult) => result })
      bash.registerTransformPlugin(preparing)
      preferOwnPrograms(bash, files)
      const input = stdin === 'later' ? await readInput() : stdin
      return await bash.exec(command, {
        cwd,
        rawScript: true,
        signal: stop.signal,
        ...(input === undefined ? {} : { stdin: Buffer.from(input).toString('latin1'), stdinKind: 'bytes' }),
      })
    } catch (error) {
      if (stopped[0] !== 0) return { stdout: '', stderr: '', exitCode: 1 }
      if (codeOf(error) === 'EFBIG' && (error as Error).message.endsWith("'/dev/stdin'"))
        return { stdout: '', stderr: `bash: standard input is larger than ${limits.maxFileBytes} bytes\n`, exitCode: 1 }
      const words = wordError(error)
      if (words !== undefined) return { stdout: '', stderr: `bash: ${words}\n`, exitCode: 1 }
      // Unknown errors may contain host paths.
      return { stdout: '', stderr: String((error as Error).stack), exitCode: 126 }
    }
  }
}
