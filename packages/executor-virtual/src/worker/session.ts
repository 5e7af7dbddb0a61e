import { Bash, defineCommand } from 'just-bash'

/** An error that ends a whole script, and keeps its output so far: just-bash's own for its limits. */
type FatalError = new (message: string, limit: string, stdout: string, stderr: string) => Error

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

/** What ends one script before its end: a refusal, or a request to stop from outside. */
export class Session {
  readonly #FatalError: FatalError
  readonly #stopped: () => boolean
  #refusal: string | undefined
  /** A program that is not there was to run. */
  missing = false

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

  /** Ends the script: nothing that comes after this runs. */
  refuse(subject: string, reason: string): never {
    this.#refusal ??= `${subject}: not supported by the virtual executor: ${reason}\n`
    this.check()
    throw new Error('unreachable')
  }

  /** Throws what ends the script, once something does. */
  check(): void {
    if (this.#refusal !== undefined) throw new this.#FatalError('refused', 'refusal', '', this.#refusal)
    if (this.#stopped()) throw new this.#FatalError('stopped', 'stop', '', '\n')
  }
}
