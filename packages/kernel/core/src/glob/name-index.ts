import type { Component } from './component.ts'
import { sameName } from './names.ts'
import type { Name } from './names.ts'

export type Bits = Int32Array

interface Wildcard {
  readonly component: Component
  readonly at: Bits
}

/** Up to this number of wildcards, trying each is faster than a cache. */
const fewWildcards = 8

export class NameIndex {
  readonly #literals = new Map<string, Bits>()
  readonly #wildcards: readonly Wildcard[]
  readonly #waiting: readonly Wildcard[]
  /** The latest result for many wildcards: deep trees often repeat a name. */
  #last: { readonly name: Name; readonly wildcards: readonly Wildcard[]; readonly found: Bits | undefined } | undefined

  /** Each component has its bit; equal components are one object. `length`: words of a bit set. `waiting`: the bits for `onlyWaiting`. */
  constructor(
    components: readonly { readonly component: Component; readonly bit: number }[],
    length: number,
    waiting: Bits,
  ) {
    const wildcards = new Map<Component, Bits>()
    const none = (): Bits => new Int32Array(length)
    for (const { component, bit } of components) {
      const { literal } = component
      setBit(literal === undefined ? entryOf(wildcards, component, none) : entryOf(this.#literals, literal, none), bit)
    }
    this.#wildcards = [...wildcards].map(([component, at]) => ({ component, at }))
    this.#waiting = this.#wildcards.filter(({ at }) => at.some((bits, word) => (bits & (waiting[word] ?? 0)) !== 0))
  }

  /** Returns the bits of all matches. With `onlyWaiting`, bits outside `waiting` may be missing. */
  find(name: Name, onlyWaiting: boolean): Bits | undefined {
    const literal = this.#literals.size === 0 ? undefined : this.#literals.get(name.text)
    const wildcards = onlyWaiting ? this.#waiting : this.#wildcards
    if (wildcards.length === 0) return literal
    if (wildcards.length <= fewWildcards) return this.#tryEach(name, wildcards, literal)
    if (this.#last?.wildcards !== wildcards || !sameName(this.#last.name, name)) {
      this.#last = { name, wildcards, found: this.#tryEach(name, wildcards, literal) }
    }
    return this.#last.found
  }

  #tryEach(name: Name, wildcards: readonly Wildcard[], literal: Bits | undefined): Bits | undefined {
    let found = literal
    for (const { component, at } of wildcards) {
      if (component.matches(name)) found = found === undefined ? at : found.map((bits, word) => bits | (at[word] ?? 0))
    }
    return found
  }
}

export function setBit(all: Bits, bit: number): void {
  all[bit >> 5] = (all[bit >> 5] ?? 0) | (1 << (bit & 31))
}

function entryOf<Key>(map: Map<Key, Bits>, key: Key, make: () => Bits): Bits {
  const known = map.get(key) ?? make()
  map.set(key, known)
  return known
}
