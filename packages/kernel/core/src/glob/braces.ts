import { malformed } from './malformed.ts'

const maxNesting = 8
/** Maximum number of globs from one brace expansion, and of their characters in sum. Both limit the work of a match. */
const maxAlternatives = 256
const maxExpandedLength = 4000

/** Expands braces: `a.{js,ts}` becomes `a.js` and `a.ts`. Does not change escapes and character classes. */
export function expandBraces(glob: string, operation: string): string[] {
  if (!glob.includes('{')) return [glob]
  const reader = new Reader(glob, operation)
  const expanded = reader.sequence(0)
  return [...new Set(expanded)]
}

class Reader {
  readonly #glob: string
  readonly #operation: string
  #at = 0

  constructor(glob: string, operation: string) {
    this.#glob = glob
    this.#operation = operation
  }

  sequence(depth: number): string[] {
    let found = ['']
    while (this.#at < this.#glob.length) {
      const character = this.#glob[this.#at]
      if (depth > 0 && (character === ',' || character === '}')) break
      found = this.#join(found, character === '{' ? this.#alternatives(depth + 1) : [this.#plain(depth)])
    }
    return found
  }

  #alternatives(depth: number): string[] {
    if (depth > maxNesting) throw this.#refuse(`nests braces more than ${maxNesting} deep`, 'write several globs')
    this.#at += 1
    const found: string[] = []
    let count = 0
    for (;;) {
      found.push(...this.sequence(depth))
      count += 1
      const next = this.#glob[this.#at]
      this.#at += 1
      if (next === undefined) {
        throw this.#refuse('has a `{` that is not closed', 'close it, or write `\\{` for the character')
      }
      if (next === '}') break
    }
    if (count > 1) return found
    throw this.#refuse('has braces without a comma', 'write `{a,b}` for alternatives, or `\\{` for the character')
  }

  #plain(depth: number): string {
    const start = this.#at
    while (this.#at < this.#glob.length) {
      const character = this.#glob[this.#at]
      if (character === '{' || (depth > 0 && (character === ',' || character === '}'))) break
      const length = character === '[' ? classLength(this.#glob, this.#at) : character === '\\' ? 2 : 1
      this.#at += Math.max(length, 1)
    }
    return this.#glob.slice(start, this.#at)
  }

  #join(left: readonly string[], right: readonly string[]): string[] {
    if (left.length * right.length > maxAlternatives) {
      throw this.#refuse(`stands for more than ${maxAlternatives} globs`, 'write several globs')
    }
    const joined = left.flatMap((one) => right.map((other) => one + other))
    if (joined.reduce((total, { length }) => total + length, 0) > maxExpandedLength) {
      throw this.#refuse(
        `is longer than ${maxExpandedLength} characters with its braces expanded`,
        'write several globs',
      )
    }
    return joined
  }

  #refuse(reason: string, remedy: string): Error {
    return malformed(this.#glob, this.#operation, reason, remedy)
  }
}

/** Returns the length of the character class at `start`, brackets included; 0 if the class is not closed. */
export function classLength(glob: string, start: number): number {
  const negated = glob[start + 1] === '!' || glob[start + 1] === '^'
  const first = start + (negated ? 2 : 1)
  for (let at = first; at < glob.length; at += 1) {
    if (glob[at] === '\\') at += 1
    // A `]` directly after the opening bracket is a member.
    else if (glob[at] === ']' && at > first) return at - start + 1
  }
  return 0
}
