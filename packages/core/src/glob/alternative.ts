import type { NameMatcher } from './component.ts'

/** Any number of directories, also none. */
export const anyDirectories = '**'

export type Component = NameMatcher | typeof anyDirectories

/** A glob without braces, as matchers of names; the last component is one. */
export class Alternative {
  readonly #components: readonly Component[]
  /** With `**` at most in front: the other components, each of which takes exactly one name. */
  readonly #tail: readonly NameMatcher[] | undefined

  constructor(components: readonly Component[]) {
    this.#components = components
    const rest = components[0] === anyDirectories ? components.slice(1) : components
    const tail = rest.filter((component) => component !== anyDirectories)
    this.#tail = tail.length === rest.length ? tail : undefined
  }

  matches(names: readonly string[]): boolean {
    const tail = this.#tail
    if (tail === undefined) return this.#reach(names)[this.#components.length] === true
    const skipped = names.length - tail.length
    if (skipped < 0 || (skipped > 0 && this.#components.length === tail.length)) return false
    return tail.every((matches, at) => matches(names[skipped + at] ?? ''))
  }

  /** A path may match that begins with these names and has more. */
  mayMatchBelow(names: readonly string[]): boolean {
    if (this.#components[0] === anyDirectories) return true
    return this.#reach(names).lastIndexOf(true, this.#components.length - 1) >= 0
  }

  /** At `n` it says whether the first `n` components match all these names. */
  #reach(names: readonly string[]): boolean[] {
    let now = this.#states()
    now[0] = true
    this.#skip(now)
    for (const name of names) {
      const next = this.#states()
      let alive = false
      for (const [at, component] of this.#components.entries()) {
        if (now[at] !== true) continue
        const isAny = component === anyDirectories
        if (!isAny && !component(name)) continue
        next[isAny ? at : at + 1] = true
        alive = true
      }
      if (!alive) return next
      this.#skip(next)
      now = next
    }
    return now
  }

  #states(): boolean[] {
    return Array<boolean>(this.#components.length + 1).fill(false)
  }

  /** `**` may stand for no directory. */
  #skip(states: boolean[]): void {
    for (const [at, component] of this.#components.entries()) {
      if (component === anyDirectories && states[at] === true) states[at + 1] = true
    }
  }
}
