import { Automaton } from '../glob/automaton.ts'
import type { Progress } from '../glob/automaton.ts'
import { stepsOf } from '../glob/glob.ts'
import { nameOf } from '../glob/names.ts'
import type { Name } from '../glob/names.ts'

/** Matches several globs together, from the root down. Ignores case. A hundred plain names take as long as one. */
export class NameSet {
  readonly #patterns: readonly string[]
  readonly #automaton: Automaton

  /** `topDown`: callers never pass paths below a match. Default false. */
  constructor(patterns: readonly string[], topDown = false) {
    this.#patterns = patterns
    const options = { foldCase: true, topDown, operation: 'rule' }
    this.#automaton = new Automaton(
      patterns.map((pattern) => stepsOf(typeof pattern === 'string' ? anchor(pattern) : pattern, options).steps),
    )
  }

  get start(): Progress {
    return this.#automaton.start
  }

  enter(above: Progress, name: Name): Progress {
    return this.#automaton.enter(above, name)
  }

  match(directory: Progress, name: Name): string | undefined {
    const index = this.#automaton.match(directory, name)
    return index === undefined ? undefined : this.#patterns[index]
  }

  mayMatchName(name: string): boolean {
    return this.#automaton.mayMatchName(nameOf(name, true))
  }

  mayMatchBelow(directory: Progress): boolean {
    return this.#automaton.isOpen(directory)
  }

  isBegun(directory: Progress): boolean {
    return this.#automaton.isBegun(directory)
  }
}

/** Outside a workspace, `./x` means `/x`. */
function anchor(pattern: string): string {
  return pattern.startsWith('./') ? pattern.slice(1) : pattern
}
