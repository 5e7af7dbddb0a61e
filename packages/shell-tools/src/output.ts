import type { ToolResult } from './contract.ts'
import { encodeText } from './text.ts'

export class Output {
  readonly #out: string[] = []
  readonly #err: string[] = []
  /** For each error, the number of output pieces before it. */
  readonly #places: number[] = []
  /** True if the program delays its output, so that its errors come first. */
  readonly #isLate: boolean
  exitCode = 0

  constructor({ late = false }: { readonly late?: boolean } = {}) {
    this.#isLate = late
  }

  write(bytes: string): void {
    this.#out.push(bytes)
  }

  fail(text: string, exitCode = 1): void {
    this.note(`${text}\n`)
    this.exitCode = Math.max(this.exitCode, exitCode)
  }

  /** Adds the output and errors of an inner command. */
  relay(result: ToolResult): void {
    this.write(outputOf(result))
    this.note(result.stderr)
  }

  note(text: string): void {
    this.#err.push(text)
    this.#places.push(this.#isLate ? 0 : this.#out.length)
  }

  #together(): string {
    const pieces: string[] = []
    let from = 0
    for (const [index, to] of this.#places.entries()) {
      pieces.push(...this.#out.slice(from, to), bytesOf(this.#err[index] ?? ''))
      from = to
    }
    return pieces.concat(this.#out.slice(from)).join('')
  }

  result(): ToolResult {
    const { exitCode } = this
    return {
      stdout: this.#out.join(''),
      stderr: this.#err.join(''),
      exitCode,
      stdoutKind: 'bytes',
      stdoutEncoding: 'binary',
      together: () => this.#together(),
    }
  }
}

export function bytesOf(text: string): string {
  return Buffer.from(encodeText(text)).toString('latin1')
}

export function outputOf({ stdout, stdoutKind }: ToolResult): string {
  return stdoutKind === 'bytes' ? stdout : bytesOf(stdout)
}
