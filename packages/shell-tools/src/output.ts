import type { ToolResult } from './contract.ts'
import { encodeText } from './text.ts'

/** The output that a call has written. */
export class Output {
  readonly #out: string[] = []
  readonly #err: string[] = []
  exitCode = 0

  write(bytes: string): void {
    this.#out.push(bytes)
  }

  /** A line on standard error; the exit code is 1 or more from now on. */
  fail(text: string, exitCode = 1): void {
    this.#err.push(`${text}\n`)
    this.exitCode = Math.max(this.exitCode, exitCode)
  }

  /** Passes on the output of a command that this one ran. */
  relay(result: ToolResult): void {
    this.write(outputOf(result))
    this.#err.push(result.stderr)
  }

  note(text: string): void {
    this.#err.push(text)
  }

  result(): ToolResult {
    const { exitCode } = this
    return {
      stdout: this.#out.join(''),
      stderr: this.#err.join(''),
      exitCode,
      stdoutKind: 'bytes',
      stdoutEncoding: 'binary',
    }
  }
}

/** Text as bytes, one character for each. */
export function bytesOf(text: string): string {
  return Buffer.from(encodeText(text)).toString('latin1')
}

/** The bytes of a result, one character for each. */
export function outputOf({ stdout, stdoutKind }: ToolResult): string {
  return stdoutKind === 'bytes' ? stdout : bytesOf(stdout)
}
