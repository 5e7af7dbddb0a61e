import { bytesOf, type Invocation, type Listing, outputOf, type ToolHost, type ToolResult } from '@ws/shell-tools'

import type { BashFileSystem } from '../../files/system.ts'
import { firstOutputs, type Outputs } from './to-errors.ts'
import { type FatalError, findInternals, type ShellState } from './interpreter.ts'

// Timer functions, saved before just-bash blocks the global timers for a script.
const startTimer = setTimeout
const stopTimer = clearTimeout
const now = performance.now.bind(performance)
/** Milliseconds after which output is reported, if no program begins. */
const reportTime = 100
const longestTimer = 2 ** 31 - 1

/** A mark on standard error at the place where a script was stopped. The mark replaces just-bash's own message. */
export const stopMark = '\u{f0002}\n'

/** State of one script that may end early, by a refusal or by a request from outside. */
export class Session implements ToolHost {
  readonly #FatalError: FatalError
  readonly #stopped: () => boolean
  readonly #stopping = Promise.withResolvers<void>()
  #isWoken = false
  /** Deadlines by `performance.now()`. If several deadlines have passed, the innermost part of the script ends. */
  readonly #deadlines: { readonly at: number }[] = []
  #refusal: string | undefined
  /** A missing program whose status was not yet tested; see `repaired.ts`. */
  missing: string | undefined
  endedBy: string | undefined
  /** The file and the initial exports of the next script. */
  begins: { readonly source?: string | undefined; readonly exported?: readonly string[] } = {}
  /** The state of an earlier shell, until the script begins. */
  carried: string | undefined
  /** The state of the shell of the script. */
  shell: ShellState | undefined
  /** The standard input that a command of a group has read. */
  #inheritedInput: string | undefined
  /** The workspace's files. just-bash gives a command only the methods of its own interface. */
  files: Listing | undefined
  outputs: Outputs = firstOutputs
  /** Programs that run executable files. */
  readonly interpreters = new Set(['bash', 'sh'])

  /** Output that was not yet reported, with one character for each byte. `pieces`: number of recorded pieces of output. */
  readonly #printed = { stdout: '', stderr: '' }
  pieces = 0
  #reportedAt = now()
  report: ((stdout: string, stderr: string, running: string) => void) | undefined

  /** The shell's name in refusals. */
  readonly #shell: string

  private constructor(error: FatalError, stopped: () => boolean, shell = 'the virtual executor') {
    this.#FatalError = error
    this.#stopped = stopped
    this.#shell = shell
  }

  /** @param stopped returns true when the script must stop */
  static async open(stopped: () => boolean): Promise<Session> {
    const { FatalError } = await findInternals()
    return new Session(FatalError, stopped)
  }

  /** A session for one command under a foreign interpreter. */
  static alone(files: BashFileSystem): Session {
    const session = new Session(Error, () => false, 'these commands')
    session.files = files
    return session
  }

  get refusal(): string | undefined {
    return this.#refusal
  }

  /** True if {@link check} would throw. */
  get ending(): boolean {
    return this.#refusal !== undefined || this.#stopped() || this.#overdue()
  }

  refuse(subject: string, reason: string): never {
    this.#refusal ??= `${subject}: not supported by ${this.#shell}: ${reason}\n`
    this.check()
    throw new Error('unreachable')
  }

  /** Records a command's output if it goes to the script's output. */
  print(result: ToolResult, { places }: Outputs): void {
    for (const [number, text] of [
      ['1', outputOf(result)],
      ['2', bytesOf(result.stderr)],
    ] as const) {
      const place = places.get(number)
      if (text === '' || (place !== 'output' && place !== 'errors')) continue
      this.#printed[place === 'output' ? 'stdout' : 'stderr'] += text
      this.pieces += 1
    }
    if (now() - this.#reportedAt > reportTime) this.begin('')
  }

  /** Reports the output so far before a program starts, since the program may never end. */
  begin(program: string): void {
    const { stdout, stderr } = this.#printed
    Object.assign(this.#printed, { stdout: '', stderr: '' })
    this.#reportedAt = now()
    this.report?.(stdout, stderr, program.slice(0, 200))
  }

  /** Records that a command reads standard input. Refuses input that another command has read. */
  noteInput({ name, inherits, context: { stdin } }: Invocation): void {
    if (inherits === undefined || inherits === 'file' || stdin === '') return
    if (inherits === 'loop')
      this.refuse(name, 'it would take the standard input of the loop; give it `< /dev/null` or a file')
    if (this.#inheritedInput?.endsWith(stdin) === true)
      this.refuse(name, 'another command has read the same standard input before')
    this.#inheritedInput = stdin
  }

  /** Ends every {@link pause} when the script must stop. */
  wake(): void {
    this.#isWoken = true
    this.#stopping.resolve()
  }

  /** Waits for a time, but not beyond the end of the script. */
  async pause(duration: number): Promise<void> {
    const until = Math.min(now() + duration, ...this.#deadlines.map(({ at }) => at))
    // Timers ignore fractions of a millisecond, and could end before the deadline.
    for (let left = until - now(); left > 0 && !this.#isWoken; left = until - now()) {
      const over = Promise.withResolvers<void>()
      const timer = startTimer(over.resolve, Math.min(Math.ceil(left), longestTimer))
      await Promise.race([over.promise, this.#stopping.promise])
      stopTimer(timer)
    }
    this.check()
  }

  /** Limits the time of `work`. After that time, `work` ends at the next command or loop round. @returns no `result` if it never began */
  async within<Result>(
    duration: number,
    work: () => Promise<Result>,
  ): Promise<{ readonly over: boolean; readonly result?: Result }> {
    const deadline = { at: now() + duration }
    this.#deadlines.push(deadline)
    try {
      const result = await work().finally(() => this.#deadlines.splice(this.#deadlines.indexOf(deadline), 1))
      return { over: now() >= deadline.at, result }
    } catch (error) {
      // the time can pass before the work begins; an error of an outer deadline is thrown again
      if (!(error instanceof this.#FatalError) || now() < deadline.at || this.ending) throw error
      return { over: true }
    }
  }

  /** Throws if the script must end. @param stdout output of the running command: one character for each byte */
  check(stdout = ''): void {
    if (this.#refusal !== undefined) throw new this.#FatalError('refused', 'refusal', stdout, this.#refusal)
    if (this.#stopped() || this.#overdue()) throw new this.#FatalError('stopped', 'stop', stdout, stopMark)
  }

  /** Milliseconds until the script must end, if it has a deadline. */
  get timeLeft(): number | undefined {
    const first = Math.min(...this.#deadlines.map(({ at }) => at))
    return first === Infinity ? undefined : Math.max(0, Math.ceil(first - now()))
  }

  #overdue(): boolean {
    return this.#deadlines.length > 0 && this.#deadlines.some(({ at }) => now() >= at)
  }
}
