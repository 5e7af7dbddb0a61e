import type { NameMatcher } from './component.ts'

/** Any number of directories, also none. */
export const anyDirectories = '**'

export type Component = NameMatcher | typeof anyDirectories

/** A glob without braces, as matchers of names. The last component is not `**`. */
export class Alternative {
  readonly #components: readonly Component[]
  /** The first and the last `**`; -1 without one. */
  readonly #firstAny: number
  readonly #lastAny: number

  constructor(components: readonly Component[]) {
    this.#components = components
    this.#firstAny = components.indexOf(anyDirectories)
    this.#lastAny = components.lastIndexOf(anyDirectories)
  }

  matches(names: readonly string[]): boolean {
    const length = this.#components.length - this.#lastAny - 1
    const end = names.length - length
    if (end < 0 || (this.#lastAny < 0 && end > 0)) return false
    if (!this.#matchesInRow(this.#lastAny + 1, names, end, length)) return false
    return this.#lastAny < 0 || this.#reachesLastAny(names, end)
  }

  /** A path may match that begins with these names and has more. */
  mayMatchBelow(names: readonly string[]): boolean {
    const fixed = this.#firstAny < 0 ? this.#components.length - 1 : this.#firstAny
    if (names.length > fixed && this.#firstAny < 0) return false
    return this.#matchesInRow(0, names, 0, Math.min(names.length, fixed))
  }

  /** So many components, of which none is `**`, match so many names. */
  #matchesInRow(component: number, names: readonly string[], name: number, length: number): boolean {
    for (let at = 0; at < length; at += 1) {
      const matches = this.#components[component + at]
      if (typeof matches !== 'function' || !matches(names[name + at] ?? '')) return false
    }
    return true
  }

  /**
   * The components before the last `**` match names before `end`. Goes back to the last `**` only: the names that an
   * earlier one took need never change. So the steps are at most the product of the two numbers.
   */
  #reachesLastAny(names: readonly string[], end: number): boolean {
    let component = 0
    let name = 0
    let afterAny = -1
    let anyAt = 0
    while (component < this.#lastAny) {
      const matches = this.#components[component]
      if (typeof matches !== 'function') {
        component += 1
        afterAny = component
        anyAt = name
      } else if (name >= end) {
        return false
      } else if (matches(names[name] ?? '')) {
        component += 1
        name += 1
      } else if (afterAny < 0) {
        return false
      } else {
        anyAt += 1
        name = anyAt
        component = afterAny
      }
    }
    return true
  }
}
