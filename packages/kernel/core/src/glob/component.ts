import { classLength } from './braces.ts'
import { CharacterClass } from './character-class.ts'
import { foldCharacters } from './folds.ts'
import type { Name } from './names.ts'
import { foldName } from '../path/segments.ts'

export interface Component {
  /** The only matching name, if there is exactly one. */
  readonly literal: string | undefined
  /** Maximum steps per character of a name; 0 if a lookup of the whole name is enough. */
  readonly cost: number
  readonly matches: (name: Name) => boolean
}

type TextMatcher = (name: string) => boolean

export type Refuse = (reason: string, remedy: string) => Error

type GlobToken = string | typeof anyOne | typeof anyMany | CharacterClass

const anyOne = Symbol('?')
const anyMany = Symbol('*')

function parseComponent(component: string, refuse: Refuse): readonly GlobToken[] {
  const parts: GlobToken[] = []
  let text = ''
  const add = (part: GlobToken): void => {
    if (text !== '') parts.push(text)
    text = ''
    if (part !== anyMany || parts.at(-1) !== anyMany) parts.push(part)
  }
  for (let at = 0; at < component.length; at += 1) {
    const character = component[at] ?? ''
    if (character === '*') add(anyMany)
    else if (character === '?') add(anyOne)
    else if (character === '[') {
      const length = classLength(component, at)
      if (length === 0)
        throw refuse('has a `[` that is not closed within its name', 'close it, or write `\\[` for the character')
      add(CharacterClass.parse(component.slice(at + 1, at + length - 1), refuse))
      at += length - 1
    } else if (character === '\\') {
      at += 1
      if (at === component.length) throw refuse('has a name that ends in `\\`', 'write `\\\\` for the character')
      text += component[at] ?? ''
    } else text += character
  }
  if (text !== '') parts.push(text)
  return parts
}

/** Excludes names with a leading dot, unless the component begins with a dot. */
export function withoutHidden(source: string, component: Component): Component {
  if (component.literal !== undefined || /^\\?\./u.test(source)) return component
  return { ...component, matches: (name) => !name.text.startsWith('.') && component.matches(name) }
}

/** Compiles one component of a glob. With `foldCase`, tries both ways of folding: a match of either is enough. */
export function compileComponent(source: string, foldCase: boolean, refuse: Refuse): Component {
  const parts = parseComponent(source, refuse)
  const byText = textMatcher(foldCase ? parts.map((part) => foldPart(part, foldName)) : parts)
  const [only, second] = parts
  if (second === undefined && typeof only === 'string') {
    const literal = foldCase ? foldName(only) : only
    return { literal, cost: 0, matches: ({ text }) => text === literal }
  }
  const isSimple = parts.length <= 2 && parts.every((part) => part === anyMany || typeof part === 'string')
  const cost = isSimple ? 1 : parts.length + (source.length >> 3)
  if (!foldCase) return { literal: undefined, cost, matches: ({ text }) => byText(text) }
  const byCharacter = textMatcher(parts.map((part) => foldPart(part, foldCharacters)))
  return {
    literal: undefined,
    cost,
    matches: ({ text, characters }) => byText(text) || (characters !== undefined && byCharacter(characters)),
  }
}

function textMatcher(parts: readonly GlobToken[]): TextMatcher {
  const [first, second] = parts
  if (parts.length === 1 && first === anyMany) return () => true
  if (parts.length === 2 && first === anyMany && typeof second === 'string') return (name) => name.endsWith(second)
  if (parts.length === 2 && second === anyMany && typeof first === 'string') return (name) => name.startsWith(first)
  if (parts.length === 1 && first === anyOne) return (name) => name.length === characterLength(name, 0)
  return wildcards(parts)
}

function foldPart(part: GlobToken, fold: (text: string) => string): GlobToken {
  if (typeof part === 'string') return fold(part)
  return part instanceof CharacterClass ? part.folded() : part
}

/** Backtracks only to the last `*`: an earlier `*` needs no other match. The steps are at most the product of both lengths. */
function wildcards(parts: readonly GlobToken[]): TextMatcher {
  return (name) => {
    let part = 0
    let at = 0
    let afterStar = -1
    let starAt = 0
    while (at < name.length) {
      const wanted = parts[part]
      if (wanted === anyMany) {
        part += 1
        afterStar = part
        starAt = at
        continue
      }
      const taken = wanted === undefined ? 0 : matchedLength(wanted, name, at)
      if (taken > 0) {
        part += 1
        at += taken
        continue
      }
      if (afterStar < 0) return false
      starAt += characterLength(name, starAt)
      at = starAt
      part = afterStar
    }
    while (parts[part] === anyMany) part += 1
    return part === parts.length
  }
}

/** Returns the number of UTF-16 units that match the part; 0 without a match. */
function matchedLength(wanted: GlobToken, name: string, at: number): number {
  if (typeof wanted === 'string') return name.startsWith(wanted, at) ? wanted.length : 0
  const matches = wanted === anyOne || (wanted instanceof CharacterClass && wanted.has(name.codePointAt(at) ?? 0))
  return matches ? characterLength(name, at) : 0
}

/** Returns the UTF-16 units of the code point at an index. */
function characterLength(name: string, at: number): number {
  return (name.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}
