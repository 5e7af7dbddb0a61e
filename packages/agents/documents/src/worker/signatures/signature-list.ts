import type { Signature } from '../protocol.ts'

const maxSignatures = 1000
const maxTextLength = 300

export class SignatureList {
  readonly signatures: Signature[] = []
  truncated = false
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  /** Adds the source from `start` to `end` as one line. `line` counts from 1. */
  add(line: number, start: number, end: number, depth: number): void {
    if (this.signatures.length >= maxSignatures) {
      this.truncated = true
      return
    }
    // Runs of whitespace become one space, so read ten times the shown length.
    const taken = this.#source.slice(start, Math.min(end, start + maxTextLength * 10))
    const text = taken
      .replaceAll(/\s+/gu, ' ')
      .replace(/ ?(?:=>|[:;={])? ?$/u, '')
      .trim()
    const cut = text.length > maxTextLength
    this.signatures.push({ line, depth, text: cut ? `${text.slice(0, maxTextLength - 1).toWellFormed()}…` : text })
  }
}
