import type { NameMatcher } from './component.ts'
import type { Names } from './names.ts'

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

  matches(names: Names): boolean {
    const length = this.#components.length - this.#lastAny - 1
    for (let at = 0; at < length; at += 1) {
      const matches = this.#components[this.#components.length - 1 - at]
      const name = names.fromEnd(at)
      if (typeof matches !== 'function' || name === undefined || !matches(name)) return false
    }
    if (this.#lastAny < 0) return names.fromEnd(length) === undefined
    if (this.#lastAny === 0) return true
    const all = names.all()
    return this.#reachesLastAny(all, all.length - length)
  }

  /** A path may match that begins with these names and has more. */
  mayMatchBelow(names: Names): boolean {
    if (this.#firstAny === 0) return true
    const all = names.all()
    const fixed = this.#firstAny < 0 ? this.#components.length - 1 : this.#firstAny
    if (all.length > fixed && this.#firstAny < 0) return false
    return all.slice(0, fixed).every((name, at) => {
      const matches = this.#components[at]
      return typeof matches === 'function' && matches(name)
    })
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
