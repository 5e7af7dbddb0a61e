import type { Compiled, Engine, Matcher } from '../state/interpreter.ts'
import type { Session } from '../state/session.ts'
import { keepExpanded } from '../arithmetic/expression.ts'
import { expressionSource } from './expression.ts'
import { charactersOf, marks, type Use, uses } from './marks.ts'
import { Matching, TooMuchWork } from './match.ts'
import { OddPattern, parsePattern, type PatternNode } from './parse.ts'

// just-bash compiles each pattern for RE2. This file compiles patterns with this package's marks, and imitates the interface of RE2.

let session: Session | undefined

export function matchFor(one: Session): void {
  session = one
}

/** Makes patterns with marks use this package's matcher instead of RE2. */
export function replaceEngine(engine: Engine): void {
  const { compile, translateRegExp } = engine
  engine.translateRegExp = (source) => (source.includes(marks.begin) ? source : translateRegExp.call(engine, source))
  engine.compile = (source, flags) => {
    const from = source.indexOf(marks.begin)
    if (from === -1) return compile.call(engine, source, flags)
    // just-bash has escaped the special characters of the expression.
    const text = source.slice(from + 1, source.lastIndexOf(marks.end)).replace(/\\([^])/g, '$1')
    return compiled(text, (expression) => compile.call(engine, expression, engine.LONGEST_MATCH))
  }
}

let latest: { readonly text: string; readonly result: Compiled } | undefined

function compiled(text: string, compile: (expression: string) => Compiled): Compiled {
  if (text.startsWith(uses.arithmetic)) {
    keepExpanded(
      charactersOf(text.slice(2))
        .map((character) => character.text)
        .join(''),
    )
    return compiledOf([{ kind: 'star' }], uses.longestPrefix)
  }
  if (latest?.text === text) return latest.result
  const result = compiledAnew(text, compile)
  latest = { text, result }
  return result
}

function compiledAnew(text: string, compile: (expression: string) => Compiled): Compiled {
  let use = text[0] as Use
  const kind = text[1]
  const [pattern = '', replacement = ''] = text.slice(2).split(marks.replacement)
  const odd = charactersOf(replacement).find(
    (one) => (kind === 'l' && /[\\$]/.test(one.text)) || (!one.quoted && /[&\\]/.test(one.text)),
  )
  if (odd !== undefined) refuse('${…/…/…}', `\`${odd.text}\` in the value of a replacement; use sed`)
  if (use === uses.expression) {
    const expression = expressionSource(charactersOf(pattern))
    if (expression === undefined)
      return refuse('[[ … =~ … ]]', 'the expression is not valid, or has a form that is not known here')
    return compile(expression)
  }
  const characters = charactersOf(pattern)
  const counted = use === uses.once || use === uses.every || use === uses.start || use === uses.end
  const sign = use === uses.once && characters[0]?.quoted === false ? characters[0].text : ''
  if (sign === '#' || sign === '%') {
    characters.shift()
    use = sign === '#' ? uses.start : uses.end
  }
  try {
    return compiledOf(parsePattern(characters, { extended: kind === '+', counted }), use)
  } catch (error) {
    if (error instanceof OddPattern) return refuse('a pattern', `${error.message}; write the characters out`)
    throw error
  }
}

const compiledOf = (parts: readonly PatternNode[], use: Use): Compiled => ({
  matcher: (text) => new PatternMatcher(parts, use, text),
  // for a suffix, just-bash expects a group
  groupCount: () => (use === uses.suffix ? 1 : 0),
  namedGroups: () => ({}),
})

function refuse(subject: string, reason: string): never {
  if (session === undefined) throw new Error('no script runs')
  return session.refuse(subject, reason)
}

class PatternMatcher implements Matcher {
  readonly #parts: readonly PatternNode[]
  readonly #use: Use
  #text: string
  #matching: Matching
  #found: { readonly start: number; readonly end: number } | undefined
  readonly matcherInput: { charSequence: string }

  constructor(parts: readonly PatternNode[], use: Use, text: string) {
    this.#parts = parts
    this.#use = use
    this.#text = text
    this.#matching = new Matching(parts, text)
    const change = (other: string) => {
      this.#text = other
      this.#matching = new Matching(parts, other)
    }
    this.matcherInput = Object.defineProperty({ charSequence: text }, 'charSequence', { set: change })
  }

  reset(): this {
    this.#found = undefined
    return this
  }

  find(from = this.#found?.end ?? 0): boolean {
    try {
      this.#found = this.#search(from)
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error
      refuse('a pattern', 'it takes too many steps on this text; make it simpler, or use grep or sed')
    }
    return this.#found !== undefined
  }

  #search(from: number): { readonly start: number; readonly end: number } | undefined {
    const use = this.#use
    const { length } = this.#text
    if (use === uses.every || use === uses.once) {
      // bash finds no match at the end of a text, except in an empty text.
      return this.#parts.length === 0 || (from > 0 && from >= length) ? undefined : this.#matching.next(from)
    }
    if (from > 0) return undefined
    if (use === uses.whole) return this.#matching.whole() ? { start: 0, end: length } : undefined
    if (use === uses.prefix || use === uses.longestPrefix || use === uses.start) {
      const end = this.#matching.prefix(use !== uses.prefix)
      return end === undefined ? undefined : { start: 0, end }
    }
    const start = this.#matching.suffix(use !== uses.suffix)
    return start === undefined ? undefined : { start, end: length }
  }

  start(): number {
    return this.#found?.start ?? -1
  }

  end(): number {
    return this.#found?.end ?? -1
  }

  group(): string | null {
    // An empty text has only an empty part, which just-bash would omit as the last part.
    if (this.#use === uses.every && this.#text === '') return this.#found === undefined ? null : ' '
    return this.#found === undefined ? null : this.#text.slice(this.#found.start, this.#found.end)
  }
}
