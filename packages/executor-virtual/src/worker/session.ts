import { Bash, defineCommand } from 'just-bash'

/** An error that ends a whole script, and keeps its output so far: just-bash's own for its limits. */
type FatalError = new (message: string, limit: string, stdout: string, stderr: string) => Error

// Kept from before just-bash locks them for a script.
const startTimer = setTimeout
const stopTimer = clearTimeout
const longestTimer = 2 ** 31 - 1

let fatalError: Promise<FatalError> | undefined

/** just-bash does not export the class: one is provoked, once for each thread. */
function findFatalError(): Promise<FatalError> {
  fatalError ??= (async () => {
    let found: FatalError | undefined
    const provoke = defineCommand('provoke', async (_, { executionScope }) => {
      try {
        executionScope?.consumeLimited('provoked', 1, 0)
      } catch (error) {
        found = (error as Error).constructor as FatalError
      }
      return { stdout: '', stderr: '', exitCode: 0 }
    })
    await new Bash({ commands: [], customCommands: [provoke] }).exec('provoke')
    if (found === undefined) throw new Error('just-bash has no error for its limits')
    return found
  })()
  return fatalError
}

/** Stands on standard error where a script was stopped; just-bash would put words of its own there. */
export const stopMark = '\u{f0002}\n'

/** Ends one script before its end: by a refusal, or by a request to stop from outside. */
export class Session {
  readonly #FatalError: FatalError
  readonly #stopped: () => boolean
  /** Settled when the script is to stop. */
  readonly #stopping = Promise.withResolvers<void>()
  #refusal: string | undefined
  /** The first program that was to run and is not there. */
  missing: string | undefined
  /** The standard input that a command of a group has read. */
  inheritedInput: string | undefined
  /** False while the interpreter itself asks for files: to match names, for instance. */
  inCommand = false

  private constructor(error: FatalError, stopped: () => boolean) {
    this.#FatalError = error
    this.#stopped = stopped
  }

  /** @param stopped true from the moment on when the script is to stop */
  static async open(stopped: () => boolean): Promise<Session> {
    return new Session(await findFatalError(), stopped)
  }

  /** The first refusal: a line for standard error. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  /** True once {@link check} throws. */
  get ending(): boolean {
    return this.#refusal !== undefined || this.#stopped()
  }

  /** Ends the script: nothing that comes after this runs. */
  refuse(subject: string, reason: string): never {
    this.#refusal ??= `${subject}: not supported by the virtual executor: ${reason}\n`
    this.check()
    throw new Error('unreachable')
  }

  /** Ends every {@link pause}, once the script is to stop. */
  wake(): void {
    this.#stopping.resolve()
  }

  /** Waits for so many milliseconds, and no longer than the script runs. */
  async pause(duration: number): Promise<void> {
    const over = Promise.withResolvers<void>()
    const timer = startTimer(over.resolve, Math.min(duration, longestTimer))
    await Promise.race([over.promise, this.#stopping.promise])
    stopTimer(timer)
    this.check()
  }

  /** Throws what ends the script, once something does. */
  check(): void {
    if (this.#refusal !== undefined) throw new this.#FatalError('refused', 'refusal', '', this.#refusal)
    if (this.#stopped()) throw new this.#FatalError('stopped', 'stop', '', stopMark)
  }
}
