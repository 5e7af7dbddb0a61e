import { foldName } from '../path/fold.ts'
import { foldCharacters, onlyAscii } from './folds.ts'

/** How names are folded before they are compared. */
export type Folding = 'none' | 'text' | 'characters'

/** The names of a path, split off from its end as far as they are asked for: most globs are about the last few. */
export class Names {
  readonly #path: string
  readonly #folding: Folding
  readonly #fromEnd: string[] = []
  #end: number
  #isAscii = true

  constructor(path: string, folding: Folding) {
    this.#path = path
    this.#folding = folding
    this.#end = path === '/' ? 0 : path.length
  }

  /** No name that was asked for has a character beyond ASCII. */
  get isAscii(): boolean {
    return this.#isAscii
  }

  /** `undefined` when there are no more names. */
  fromEnd(index: number): string | undefined {
    while (this.#fromEnd.length <= index && this.#end > 0) {
      const slash = this.#path.lastIndexOf('/', this.#end - 1)
      this.#fromEnd.push(this.#fold(this.#path.slice(slash + 1, this.#end)))
      this.#end = slash
    }
    return this.#fromEnd[index]
  }

  all(): string[] {
    this.fromEnd(Number.POSITIVE_INFINITY)
    return this.#fromEnd.toReversed()
  }

  #fold(name: string): string {
    if (this.#folding === 'none') return name
    if (onlyAscii.test(name)) return name.toLowerCase()
    this.#isAscii = false
    return this.#folding === 'text' ? foldName(name) : foldCharacters(name)
  }
}
