import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type Question = readonly ['read' | 'names' | 'stat' | 'write' | 'parents' | 'make', string]

/** A process that asks the kernel where paths lead, with a given directory as its root. */
export class Kernel implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #answers: AsyncIterator<string>

  constructor() {
    this.#child = spawn('/usr/bin/python3', [join(import.meta.dirname, 'kernel.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    if (this.#child.stdout === null) throw new Error('no output')
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** A result, or the name of an error, for each question. */
  async ask(root: string, questions: readonly Question[]): Promise<readonly string[]> {
    this.#child.stdin?.write(`${JSON.stringify({ root, questions })}\n`)
    const { value, done } = await this.#answers.next()
    if (done === true) throw new Error('the process that asks the kernel has ended')
    return JSON.parse(value) as readonly string[]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await ended
  }
}
