import type { Progress } from '../worker/protocol.ts'

/** Programs that search for patterns, which can take very long. */
const searching = /^(?:[ef]?grep|sed|awk|find|jq|expr)\b/
const remedy =
  'a repetition of a repetition, such as `(a*)*` or `a*a*`, takes too many steps on a long line: take one out, or give it less text'

/** Collects the output before the running program starts: a killed thread returns no output. */
export class SoFar {
  readonly #stdout: Uint8Array[] = []
  readonly #stderr: Uint8Array[] = []
  #running = ''

  add({ stdout, stderr, running }: Progress): void {
    if (stdout.length > 0) this.#stdout.push(stdout)
    if (stderr.length > 0) this.#stderr.push(stderr)
    this.#running = running
  }

  end(stderr: Uint8Array = new Uint8Array()): { readonly stdout: Uint8Array; readonly stderr: Uint8Array } {
    const hint = searching.test(this.#running) ? `; ${remedy}` : ''
    const said = this.#running === '' ? '' : `bash: ended while this ran: ${this.#running}${hint}\n`
    return { stdout: Buffer.concat(this.#stdout), stderr: Buffer.concat([...this.#stderr, stderr, Buffer.from(said)]) }
  }
}
