import type { Refuse } from './component.ts'
import { foldCharacters, upperCharacter } from './folds.ts'

interface Range {
  readonly first: number
  readonly last: number
}

/** A set of characters, or its complement. */
export class CharacterClass {
  readonly #negated: boolean
  readonly #ranges: readonly Range[]
  readonly #folded: boolean

  private constructor(negated: boolean, ranges: readonly Range[], folded: boolean) {
    this.#negated = negated
    this.#ranges = ranges
    this.#folded = folded
  }

  /** `source`: the text between the brackets, such as `a-z`, `!a-z` or `^a-z`. */
  static parse(source: string, refuse: Refuse): CharacterClass {
    const negated = source.startsWith('!') || source.startsWith('^')
    return new CharacterClass(negated, parseRanges(source.slice(negated ? 1 : 0), refuse), false)
  }

  folded(): CharacterClass {
    const single = this.#ranges.filter(({ first, last }) => first === last)
    const more = single.map(({ first }) => foldCharacters(String.fromCodePoint(first)).codePointAt(0) ?? first)
    return new CharacterClass(this.#negated, [...this.#ranges, ...more.map((one) => ({ first: one, last: one }))], true)
  }

  has(codePoint: number): boolean {
    const within = this.#covers(codePoint) || (this.#folded && this.#covers(upperCharacter(codePoint)))
    return within !== this.#negated
  }

  #covers(codePoint: number): boolean {
    return this.#ranges.some(({ first, last }) => first <= codePoint && codePoint <= last)
  }
}

function parseRanges(source: string, refuse: Refuse): Range[] {
  const ranges: Range[] = []
  const members = membersOf(source, refuse)
  for (let at = 0; at < members.length; at += 1) {
    const first = members[at]?.codePoint ?? 0
    const end = members[at + 2]
    const isRange = members[at + 1]?.dash === true && end !== undefined
    const last = isRange ? end.codePoint : first
    if (last < first) throw refuse('has a range that ends before it begins', 'write ranges as `[a-z]`')
    ranges.push({ first, last })
    if (isRange) at += 2
  }
  return ranges
}

interface Member {
  readonly codePoint: number
  /** True for an unescaped `-` between two characters, which makes a range. */
  readonly dash: boolean
}

function membersOf(source: string, refuse: Refuse): Member[] {
  if (/\[[:.=]/.test(source)) {
    throw refuse('has a class such as `[:alpha:]`, which is not known here', 'write ranges such as `[A-Za-z]`')
  }
  const members: Member[] = []
  let escaped = false
  for (const character of source) {
    if (character === '\\' && !escaped) {
      escaped = true
      continue
    }
    members.push({ codePoint: character.codePointAt(0) ?? 0, dash: character === '-' && !escaped })
    escaped = false
  }
  return members
}
