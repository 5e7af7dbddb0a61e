import type { PatternNode } from './parse.ts'

// The matcher computes sets of end positions. Time grows with text length times pattern length; inside `!(…)`, quadratically.

/** Ascending positions. A range includes both ends. */
type Places = readonly number[] | { readonly from: number; readonly to: number }

const steps = 50_000_000
const mostPlaces = 4_000_000

export class TooMuchWork extends Error {}

export class Matching {
  readonly #parts: readonly PatternNode[]
  /** The text's code points, if some characters have two code units. */
  readonly #codes: Uint32Array | undefined
  readonly #units: Uint32Array | undefined
  readonly #text: string
  readonly #length: number
  #left: number
  #starts: Places | undefined

  constructor(parts: readonly PatternNode[], text: string) {
    this.#parts = parts
    this.#text = text
    if (/[\ud800-\udbff]/.test(text)) {
      this.#codes = Uint32Array.from(text, (character) => character.codePointAt(0) ?? 0)
      this.#units = new Uint32Array(this.#codes.length + 1)
      for (const [at, code] of this.#codes.entries())
        this.#units[at + 1] = (this.#units[at] ?? 0) + (code > 0xffff ? 2 : 1)
    }
    this.#length = this.#codes?.length ?? text.length
    this.#left = steps + 8 * this.#length
  }

  whole(): boolean {
    return last(this.#after(this.#parts, [0], 1)) === this.#length
  }

  prefix(longest: boolean): number | undefined {
    const ends = this.#after(this.#parts, [0], 1)
    return this.#unitsOf(longest ? last(ends) : first(ends))
  }

  suffix(longest: boolean): number | undefined {
    const starts = this.#after(this.#parts, [this.#length], -1)
    return this.#unitsOf(longest ? first(starts) : last(starts))
  }

  next(from: number): { readonly start: number; readonly end: number } | undefined {
    this.#starts ??= this.#after(this.#parts, { from: 0, to: this.#length }, -1)
    const least = this.#units === undefined ? from : this.#units.indexOf(from)
    const start = atLeast(this.#starts, least)
    if (start === undefined) return undefined
    const end = last(this.#after(this.#parts, [start], 1)) ?? start
    return { start: this.#unitsOf(start) ?? 0, end: this.#unitsOf(end) ?? 0 }
  }

  #unitsOf(place: number | undefined): number | undefined {
    return place === undefined || this.#units === undefined ? place : this.#units[place]
  }

  #code(at: number): number {
    return this.#codes === undefined ? this.#text.charCodeAt(at) : (this.#codes[at] ?? 0)
  }

  #take(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new TooMuchWork()
  }

  /** End positions of parts that begin at the given positions. With step -1, the parts are matched backwards. */
  #after(parts: readonly PatternNode[], from: Places, step: 1 | -1): Places {
    let places = from
    for (let index = 0; index < parts.length && count(places) > 0; index++)
      places = this.#afterOne(parts.at(step === 1 ? index : -1 - index) as PatternNode, places, step)
    return places
  }

  #afterOne(part: PatternNode, places: Places, step: 1 | -1): Places {
    this.#take(count(places) + 1)
    if (part.kind === 'never') return []
    if (part.kind === 'star')
      return step === 1 ? { from: first(places) ?? 0, to: this.#length } : { from: 0, to: last(places) ?? 0 }
    if (part.kind === 'group') return this.#afterGroup(part, places, step)
    const found: number[] = []
    const limit = step === 1 ? this.#length : 0
    const has = part.kind === 'set' ? part.has : undefined
    const only = part.kind === 'character' ? part.code : undefined
    each(places, (place) => {
      if (place === limit) return
      const code = this.#code(step === 1 ? place : place - 1)
      if (only === undefined ? (has?.(code) ?? true) : code === only) found.push(place + step)
    })
    return found
  }

  #afterGroup(
    { operator, alternatives }: Extract<PatternNode, { readonly kind: 'group' }>,
    places: Places,
    step: 1 | -1,
  ): Places {
    const once = (from: Places) => this.#union(alternatives.map((parts) => this.#after(parts, from, step)))
    if (operator === '@') return once(places)
    if (operator === '?') return this.#union([places, once(places)])
    if (operator === '!') {
      const found: number[] = []
      each(places, (place) => {
        const taken = new Set<number>()
        each(once([place]), (end) => taken.add(end))
        const rest = step === 1 ? { from: place, to: this.#length } : { from: 0, to: place }
        this.#take(count(rest))
        each(rest, (end) => {
          if (!taken.has(end)) found.push(end)
        })
        if (found.length > mostPlaces) throw new TooMuchWork()
      })
      return this.#union([found])
    }
    let all = operator === '+' ? once(places) : places
    for (let fresh = all; count(fresh) > 0; ) {
      const seen = new Set<number>()
      each(all, (place) => seen.add(place))
      const more: number[] = []
      each(once(fresh), (place) => {
        if (!seen.has(place)) more.push(place)
      })
      fresh = more
      if (more.length > 0) all = this.#union([all, more])
    }
    return all
  }

  #union(all: readonly Places[]): Places {
    const [only, ...others] = all
    const total = all.reduce((sum, places) => sum + count(places), 0)
    this.#take(total)
    if (total > mostPlaces) throw new TooMuchWork()
    const places = new Set<number>()
    for (const one of only === undefined ? others : all) each(one, (place) => places.add(place))
    return [...places].sort((left, right) => left - right)
  }
}

function isRange(places: Places): places is { readonly from: number; readonly to: number } {
  return !Array.isArray(places)
}

const count = (places: Places) => (isRange(places) ? places.to - places.from + 1 : places.length)
const first = (places: Places) => (isRange(places) ? places.from : places[0])
const last = (places: Places) => (isRange(places) ? places.to : places.at(-1))

function each(places: Places, see: (place: number) => void): void {
  if (!isRange(places)) for (const place of places) see(place)
  else for (let place = places.from; place <= places.to; place++) see(place)
}

function atLeast(places: Places, least: number): number | undefined {
  if (isRange(places)) return places.to >= least ? Math.max(places.from, least) : undefined
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return places[low]
}
