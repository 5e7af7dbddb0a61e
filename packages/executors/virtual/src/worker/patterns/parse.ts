import { classTest } from './classes.ts'
import type { Character } from './marks.ts'

export type PatternNode =
  | { readonly kind: 'character'; readonly code: number }
  | { readonly kind: 'any' | 'star' | 'never' }
  | { readonly kind: 'set'; readonly has: (code: number) => boolean }
  | { readonly kind: 'group'; readonly operator: string; readonly alternatives: readonly (readonly PatternNode[])[] }

/** A pattern whose meaning in bash depends on details of bash's search. */
export class OddPattern extends Error {}

export interface Reading {
  /** True if `@(a|b)` is a group. */
  readonly extended: boolean
  /** True if bash first counts the characters of the pattern, as in `${x/…}`. */
  readonly counted: boolean
}

export function parsePattern(given: readonly Character[], reading: Reading): PatternNode[] {
  const text = unescaped(given)
  const last = text.at(-1)
  if (reading.counted && active(text[0]) === '*' && last?.quoted === true && last.text === '*')
    throw new OddPattern('`*…\\*` in a replacement, which bash finds at the end alone')
  const parts: PatternNode[] = []
  for (let at = 0; at < text.length; at++) {
    const operator = active(text[at])
    if (reading.extended && /^[?*+@!]$/.test(operator) && active(text[at + 1]) === '(') {
      const close = closing(text, at + 2)
      const alternatives = split(text, at + 2, close).map((inner) => parsePattern(inner, reading))
      if (parts.at(-1)?.kind === 'star' && /[@+!]/.test(operator) && (operator === '!' || alternatives.some(isEmpty)))
        throw new OddPattern(`\`*${operator}(\` that may be empty`)
      parts.push({ kind: 'group', operator, alternatives })
      at = close
    } else if (operator === '*') {
      if (parts.at(-1)?.kind !== 'star') parts.push({ kind: 'star' })
    } else if (operator === '?') parts.push({ kind: 'any' })
    else if (operator === '[') {
      const found = bracket(text, at + 1)
      if (reading.counted && /^[!^]$/.test(active(text[at + 1])) && active(text[at + 2]) === ']')
        throw new OddPattern('`[!]` in a replacement, whose length bash miscounts')
      parts.push(found.part)
      at = found.end - 1
    } else parts.push(literal(text[at]))
  }
  return parts
}

function isEmpty(parts: readonly PatternNode[]): boolean {
  return parts.every(
    (part) =>
      part.kind === 'star' ||
      (part.kind === 'group' && (/[*?!]/.test(part.operator) || part.alternatives.some(isEmpty))),
  )
}

export const active = (character: Character | undefined) => (character?.quoted === false ? character.text : '')

const codeOf = (character: Character | undefined) => character?.text.codePointAt(0) ?? 0

const literal = (character: Character | undefined): PatternNode => ({ kind: 'character', code: codeOf(character) })

/** Removes backslashes that come from a variable: each backslash quotes the next character. A backslash at the end is a plain character. */
export function unescaped(given: readonly Character[]): Character[] {
  const text: Character[] = []
  for (let at = 0; at < given.length; at++) {
    const next = given[at + 1]
    if (active(given[at]) !== '\\' || next === undefined) text.push(given[at] as Character)
    else if (next.quoted && next.text === ']') throw new OddPattern('a backslash from a variable before a quoted `]`')
    else {
      // The shell has written a backslash before a quoted backslash.
      text.push({ text: next.text, quoted: true })
      at++
    }
  }
  return text
}

function closing(text: readonly Character[], from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    const character = active(text[at])
    if (character === '[') {
      const end = endOfBracket(text, at + 1)
      if (end === at + 1) break
      at = end - 1
    } else if (character === '(') depth++
    else if (character === ')' && --depth === 0) return at
  }
  throw new OddPattern('a group that is not closed')
}

function split(text: readonly Character[], from: number, to: number): Character[][] {
  const alternatives: Character[][] = [[]]
  let depth = 0
  for (let at = from; at < to; at++) {
    const character = active(text[at])
    const end = character === '[' ? Math.min(to, endOfBracket(text, at + 1)) : -1
    if (character === '(') depth++
    else if (character === ')') depth--
    if (character === '|' && depth === 0) alternatives.push([])
    else alternatives.at(-1)?.push(...text.slice(at, Math.max(at + 1, end)))
    at = Math.max(at, end - 1)
  }
  return alternatives
}

function endOfBracket(text: readonly Character[], from: number): number {
  return bracket(text, from).end
}

interface Bracket {
  readonly part: PatternNode
  readonly end: number
}

/** Reads a bracket expression. Without a `]`, the `[` is an ordinary character. */
function bracket(text: readonly Character[], from: number): Bracket {
  const unclosed: Bracket = { part: literal(text[from - 1]), end: from }
  const tests: ((code: number) => boolean)[] = []
  const negated = active(text[from]) === '!' || active(text[from]) === '^'
  let at = negated ? from + 1 : from
  for (let first = true; ; first = false) {
    const character = text[at]
    if (character === undefined) return unclosed
    if (active(character) === ']' && !first) break
    const opened = active(character) === '[' ? active(text[at + 1]) : ''
    if (opened === ':') {
      const close = closingOf(text, at + 2, ':')
      if (close === -1) {
        if (text.slice(at).some((one) => active(one) === ']')) throw new OddPattern('`[:` without `:]`')
        return unclosed
      }
      const test = classTest(join(text, at + 2, close))
      if (test !== undefined) tests.push((code) => test.test(String.fromCodePoint(code)))
      at = close + 2
      continue
    }
    const low = memberAt(text, at)
    at = low.end
    if (active(text[at]) === '-' && active(text[at + 1]) !== ']') {
      if (text[at + 1] === undefined) return { part: { kind: 'never' }, end: from }
      if (active(text[at + 1]) === '[' && active(text[at + 2]) === ':') throw new OddPattern('`-[:` in brackets')
      const high = memberAt(text, at + 1)
      at = high.end
      tests.push((code) => code >= low.code && code <= high.code)
    } else tests.push((code) => code === low.code)
  }
  return { part: { kind: 'set', has: (code) => tests.some((test) => test(code)) !== negated }, end: at + 1 }
}

function memberAt(text: readonly Character[], at: number): { readonly code: number; readonly end: number } {
  const sign = active(text[at]) === '[' ? active(text[at + 1]) : ''
  if (sign === '=') throw new OddPattern('`[=` in brackets')
  if (sign !== '.') return { code: codeOf(text[at]), end: at + 1 }
  if (active(text[at + 3]) !== sign || active(text[at + 4]) !== ']')
    throw new OddPattern('`[.` with more than a character')
  return { code: codeOf(text[at + 2]), end: at + 5 }
}

function closingOf(text: readonly Character[], from: number, sign: string): number {
  for (let at = from; at < text.length - 1; at++)
    if (active(text[at]) === sign && active(text[at + 1]) === ']') return at
  return -1
}

function join(text: readonly Character[], from: number, to: number): string {
  return text
    .slice(from, to)
    .map((character) => character.text)
    .join('')
}
