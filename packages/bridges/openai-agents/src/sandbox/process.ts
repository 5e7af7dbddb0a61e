import { setTimeout as delay } from 'node:timers/promises'
import { constants } from 'node:os'

import type { Workspace } from '@ws/core'
import { notesOfCommand, wordsOf } from '@ws/tools/bridge'

/** Limit of the bytes of output that are kept for the model. */
const keptOutput = 1_048_576

export interface StartOptions {
  readonly cwd: string | undefined
  readonly env: Readonly<Record<string, string>>
  readonly shell: string | undefined
  readonly login: boolean | undefined
}

/** Output that no earlier call returned. */
export interface NewOutput {
  readonly output: string
  readonly stdout: string
  readonly stderr: string
}

/** A running command, on pipes or on a terminal. */
export interface Process {
  /** Absent while the process runs. */
  readonly exitCode: number | undefined
  read(): NewOutput
  write(text: string): Promise<void>
  /** Resolves when the process has ended, or after these milliseconds. */
  settle(timeout: number): Promise<void>
  end(): Promise<void>
}

/** Starts a command. Its standard input stays open, except for an interpreter, which would read all input first. */
export async function startOnPipes(workspace: Workspace, command: string, options: StartOptions): Promise<Process> {
  const writableStdin = workspace.executor?.guarantees.processes !== 'interpreter'
  const started = await workspace.start(command, { ...options, writableStdin, maxOutputBytes: keptOutput })
  const seen = { stdout: 0, stderr: 0, output: 0 }
  let exitCode: number | undefined
  let notes = ''
  const ended = started.wait().then(
    (result) => {
      notes = notesOfCommand(result)
        .map((note) => `\n${note}`)
        .join('')
      exitCode = result.exitStatus
    },
    (error: unknown) => {
      notes = `\n${wordsOf(error)}`
      exitCode = 1
    },
  )
  return {
    get exitCode() {
      return exitCode
    },
    read() {
      const { stdout, stderr, output } = started.output({ since: seen })
      Object.assign(seen, { stdout: stdout.next, stderr: stderr.next, output: output.next })
      const added = exitCode === undefined ? '' : notes
      if (exitCode !== undefined) notes = ''
      return { output: outputText(output) + added, stdout: outputText(stdout), stderr: outputText(stderr) + added }
    },
    async write(text) {
      if (text.includes('\u0003')) started.kill('SIGINT')
      const rest = text.replaceAll('\u0003', '')
      if (rest !== '') await started.writeInput(rest)
    },
    settle: (timeout) => settled(ended, timeout),
    async end() {
      if (exitCode === undefined) started.kill('SIGKILL')
      await ended
    },
  }
}

export async function startOnTerminal(workspace: Workspace, command: string, options: StartOptions): Promise<Process> {
  const session = await workspace.openSession({ ...options, command, maxOutputBytes: keptOutput })
  let seen = 0
  let exitCode: number | undefined
  const ended = session.wait().then(
    (exit) => {
      exitCode = exit.exitCode ?? statusOf(exit.signal)
    },
    () => {
      exitCode = 1
    },
  )
  return {
    get exitCode() {
      return exitCode
    },
    read() {
      const read = session.read({ since: Math.max(seen, session.commandOffset ?? 0) })
      seen = read.next
      const output = outputText(read)
      return { output, stdout: output, stderr: '' }
    },
    write: (text) => (text === '' ? Promise.resolve() : session.write(text)),
    settle: (timeout) => settled(ended, timeout),
    async end() {
      await session.close()
      await ended
    },
  }
}

/** The output. For dropped output, uses the SDK's own notice, which the SDK recognises and keeps when it cuts a text. */
function outputText({ text, dropped }: { readonly text: string; readonly dropped: number }): string {
  return dropped === 0 ? text : `[...${dropped} characters truncated from process output...]\n${text}`
}

async function settled(ended: Promise<void>, timeout: number): Promise<void> {
  const stop = new AbortController()
  const late = delay(timeout, undefined, { signal: stop.signal }).catch(() => undefined) // the wait was stopped because `ended` came first
  await Promise.race([ended, late])
  stop.abort()
}

function statusOf(signal: string | null): number {
  const numbers: Readonly<Record<string, number>> = constants.signals
  return 128 + (signal === null ? 0 : (numbers[signal] ?? 0))
}
