import { bytesOf, type Invocation, type Listing, outputOf, type ToolHost, type ToolResult } from '@ws/shell-tools'

import type { BashFileSystem } from '../../files/system.ts'
import { firstOutputs, type Outputs } from './to-errors.ts'
import { type FatalError, findInternals } from './interpreter.ts'

// Kept from before just-bash locks them for a script.
const startTimer = setTimeout
const stopTimer = clearTimeout
const now = performance.now.bind(performance)
/** Milliseconds after which output is reported, where no program begins. */
const reportTime = 100
const longestTimer = 2 ** 31 - 1

/** A mark on standard error where a script was stopped; just-bash would put words of its own there. */
export const stopMark = '\u{f0002}\n'

/** Ends one script before its end: by a refusal, or by a request to stop from outside. */
export class Session implements ToolHost {
  readonly #FatalError: FatalError
  readonly #stopped: () => boolean
  readonly #stopping = Promise.withResolvers<void>()
  #isWoken = false
  /** Times on the clock of `performance.now()`. If several are over, the innermost part of the script ends. */
  readonly #deadlines: { readonly at: number }[] = []
  #refusal: string | undefined
  /** A program that was to run and is not there. Its status has not been tested yet; see `repaired.ts`. */
  missing: string | undefined
  endedBy: string | undefined
  /** The file that the next script comes from, and the variables that it exports from the start. */
  begins: { readonly source?: string | undefined; readonly exported?: readonly string[] } = {}
  /** The standard input that a command of a group has read. */
  #inheritedInput: string | undefined
  /** The files themselves: those that just-bash hands to a command have its own methods only. */
  files: Listing | undefined
  outputs: Outputs = firstOutputs

  /** Output of the script that has not been reported, as bytes with one character for each, and the number of its pieces. */
  readonly #printed = { stdout: '', stderr: '' }
  pieces = 0
  #reportedAt = now()
  report: ((stdout: string, stderr: string, running: string) => void) | undefined

  /** The shell, as a refusal names it. */
  readonly #shell: string

  private constructor(error: FatalError, stopped: () => boolean, shell = 'the virtual executor') {
    this.#FatalError = error
    this.#stopped = stopped
    this.#shell = shell
  }

  /** @param stopped true from the moment on when the script is to stop */
  static async open(stopped: () => boolean): Promise<Session> {
    const { FatalError } = await findInternals()
    return new Session(FatalError, stopped)
  }

  /** A session of one command alone, under an interpreter that knows no sessions. */
  static alone(files: BashFileSystem): Session {
    const session = new Session(Error, () => false, 'these commands')
    session.files = files
    return session
  }

  get refusal(): string | undefined {
    return this.#refusal
  }

  /** True once {@link check} throws. */
  get ending(): boolean {
    return this.#refusal !== undefined || this.#stopped() || this.#overdue()
  }

  /** Ends the script: nothing that comes after this runs. */
  refuse(subject: string, reason: string): never {
    this.#refusal ??= `${subject}: not supported by ${this.#shell}: ${reason}\n`
    this.check()
    throw new Error('unreachable')
  }

  /** Notes output of a command, where it goes to the output of the script. */
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

  /** Reports the output before a program that may never end. */
  begin(program: string): void {
    const { stdout, stderr } = this.#printed
    Object.assign(this.#printed, { stdout: '', stderr: '' })
    this.#reportedAt = now()
    this.report?.(stdout, stderr, program.slice(0, 200))
  }

  /** Notes that a command reads standard input, and refuses what was read before by another one. */
  noteInput({ name, inherits, context: { stdin } }: Invocation): void {
    if (inherits === undefined || inherits === 'file' || stdin === '') return
    if (inherits === 'loop')
      this.refuse(name, 'it would take the standard input of the loop; give it `< /dev/null` or a file')
    if (this.#inheritedInput?.endsWith(stdin) === true)
      this.refuse(name, 'another command has read the same standard input before')
    this.#inheritedInput = stdin
  }

  /** Ends every {@link pause}, once the script is to stop. */
  wake(): void {
    this.#isWoken = true
    this.#stopping.resolve()
  }

  /** Waits for so many milliseconds, and no longer than the script runs. */
  async pause(duration: number): Promise<void> {
    const until = Math.min(now() + duration, ...this.#deadlines.map(({ at }) => at))
    // A timer cuts fractions of a millisecond off: it would end before a deadline, which then seems to be kept.
    for (let left = until - now(); left > 0 && !this.#isWoken; left = until - now()) {
      const over = Promise.withResolvers<void>()
      const timer = startTimer(over.resolve, Math.min(Math.ceil(left), longestTimer))
      await Promise.race([over.promise, this.#stopping.promise])
      stopTimer(timer)
    }
    this.check()
  }

  /**
   * Runs something that ends after so many milliseconds, at its next command or round of a loop.
   *
   * @returns `result` is absent where it was ended before it began
   */
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
      // on a busy machine the time can be over before the work begins; what ends more than it goes on
      if (!(error instanceof this.#FatalError) || now() < deadline.at || this.ending) throw error
      return { over: true }
    }
  }

  /**
   * Throws what ends the script, once something does.
   *
   * @param stdout output of the command that was running: bytes, one character for each
   */
  check(stdout = ''): void {
    if (this.#refusal !== undefined) throw new this.#FatalError('refused', 'refusal', stdout, this.#refusal)
    if (this.#stopped() || this.#overdue()) throw new this.#FatalError('stopped', 'stop', stdout, stopMark)
  }

  #overdue(): boolean {
    return this.#deadlines.length > 0 && this.#deadlines.some(({ at }) => now() >= at)
  }
}
