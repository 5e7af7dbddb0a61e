import type { Component } from './component.ts'
import { NameIndex, setBit } from './name-index.ts'
import type { Bits } from './name-index.ts'
import type { Name } from './names.ts'

export const anyDirectories = '**'

export type GlobComponent = Component | typeof anyDirectories

/** The state of globs at a directory: one bit for each step that can match next. Never mutated. */
export type Progress = Bits

/** Matches many globs at once, name by name from the root. A name takes the same time at any depth. */
export class Automaton {
  readonly start: Progress
  /** True if every glob is a single name at any depth: a match then does not depend on the directory. */
  readonly isFlat: boolean
  /** The state after a name that no glob matches. Relative globs start in this state. */
  readonly #idle: Progress
  readonly #any: Bits
  /** True if `**` also matches directories whose names begin with a dot. */
  readonly #passesHidden: boolean
  readonly #globAt = new Map<number, number>()
  readonly #innerNames: NameIndex
  readonly #lastNames: NameIndex

  /** Each glob has one or more lists of steps. The last step of a list is not `**`. Equal components must be the same object. */
  constructor(globs: readonly (readonly (readonly GlobComponent[])[])[], passesHidden = true) {
    this.#passesHidden = passesHidden
    this.isFlat = passesHidden && globs.flat().every((steps) => steps.length === 2 && steps[0] === anyDirectories)
    const length = (globs.flat(2).length + 31) >> 5
    const start = new Int32Array(length)
    this.#any = new Int32Array(length)
    const inner: { component: Component; bit: number }[] = []
    const last: typeof inner = []
    let bit = 0
    for (const [index, lists] of globs.entries()) {
      for (const steps of lists) {
        setBit(start, bit)
        for (const [at, step] of steps.entries()) {
          if (step === anyDirectories) setBit(this.#any, bit)
          else (at === steps.length - 1 ? last : inner).push({ component: step, bit })
          bit += 1
        }
        this.#globAt.set(bit - 1, index)
      }
    }
    this.#idle = this.#arrive(start.map((bits, word) => bits & (this.#any[word] ?? 0)))
    const begun = this.#arrive(start)
    this.start = begun.every((bits, word) => bits === this.#idle[word]) ? this.#idle : begun
    this.#innerNames = new NameIndex(inner, length, this.#idle)
    this.#lastNames = new NameIndex(last, length, this.#idle)
  }

  enter(above: Progress, name: Name): Progress {
    const matching = this.#innerNames.find(name, above === this.#idle)
    const stays = this.#passesHidden || !name.text.startsWith('.')
    if (matching === undefined && above === this.#idle && stays) return above
    const next = new Int32Array(above.length)
    let carry = 0
    for (let word = 0; word < next.length; word += 1) {
      const bits = above[word] ?? 0
      const taken = matching === undefined ? 0 : bits & (matching[word] ?? 0)
      next[word] = (stays ? bits & (this.#any[word] ?? 0) : 0) | (taken << 1) | carry
      carry = taken >>> 31
    }
    this.#arrive(next)
    for (let word = 0; word < next.length; word += 1) if (next[word] !== this.#idle[word]) return next
    return this.#idle
  }

  /** Returns the index of the first glob that an entry of a directory matches; `undefined` if no glob matches. */
  match(directory: Progress, name: Name): number | undefined {
    const matching = this.#lastNames.find(name, directory === this.#idle)
    if (matching === undefined) return undefined
    for (let word = 0; word < directory.length; word += 1) {
      const matched = (directory[word] ?? 0) & (matching[word] ?? 0)
      if (matched !== 0) return this.#globAt.get((word << 5) + 31 - Math.clz32(matched & -matched))
    }
    return undefined
  }

  mayMatchName(name: Name): boolean {
    return this.#lastNames.find(name, false) !== undefined
  }

  isOpen(directory: Progress): boolean {
    return directory.some((bits) => bits !== 0)
  }

  /** Returns whether the first names of a glob match the directory or its ancestors. */
  isBegun(directory: Progress): boolean {
    return directory !== this.#idle && directory.some((bits, word) => (bits & ~(this.#idle[word] ?? 0)) !== 0)
  }

  /** Where `**` can match next, the step after it can match too. No list has two `**` in sequence. */
  #arrive(bits: Bits): Bits {
    let carry = 0
    for (let word = 0; word < bits.length; word += 1) {
      const any = (bits[word] ?? 0) & (this.#any[word] ?? 0)
      bits[word] = (bits[word] ?? 0) | (any << 1) | carry
      carry = any >>> 31
    }
    return bits
  }
}
