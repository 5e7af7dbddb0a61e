import { classes } from './classes.ts'
import type { Character } from './marks.ts'

const escapes: Readonly<Record<string, string>> = {
  w: '[\\p{L}\\p{N}_]',
  W: '[^\\p{L}\\p{N}_]',
  s: '[ \\t-\\r]',
  S: '[^ \\t-\\r]',
  b: '\\b',
  B: '\\B',
}

/** Translates an extended regular expression of `=~` for RE2; `undefined` if bash refuses the expression, or if RE2 would differ. */
export function expressionSource(text: readonly Character[]): string | undefined {
  try {
    const reader = new Reader(text)
    const source = reader.alternatives()
    return reader.atEnd ? source : undefined
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

class Unreadable extends Error {}

class Reader {
  readonly #text: readonly Character[]
  #at = 0
  /** True if the last part may match an empty text. */
  #mayBeEmpty = true

  constructor(text: readonly Character[]) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** The next character if it is an operator; otherwise an empty text. */
  get #active(): string {
    const character = this.#text[this.#at]
    return character?.quoted === false ? character.text : ''
  }

  get #next(): string {
    return this.#text[this.#at]?.text ?? ''
  }

  alternatives(): string {
    let source = this.#sequence()
    let mayBeEmpty = this.#mayBeEmpty
    while (this.#active === '|') {
      this.#at++
      source += `|${this.#sequence()}`
      mayBeEmpty ||= this.#mayBeEmpty
    }
    this.#mayBeEmpty = mayBeEmpty
    return source
  }

  #sequence(): string {
    let source = ''
    let isEmpty = true
    while (!this.atEnd && this.#active !== '|' && this.#active !== ')') {
      const anchor = this.#active === '^' || this.#active === '$' ? this.#active : ''
      let atom = anchor
      this.#mayBeEmpty = anchor !== ''
      if (anchor === '') atom = this.#atom()
      else this.#at++
      for (let repeat = this.#repeat(); repeat !== ''; repeat = this.#repeat()) {
        // RE2 and glibc disagree about the last round of an empty group.
        if (anchor !== '' || (this.#mayBeEmpty && atom.includes('('))) throw new Unreadable()
        atom = `(?:${atom})${repeat}`
        this.#mayBeEmpty ||= /^(?:[*?]|\{0)/.test(repeat)
      }
      source += atom
      isEmpty &&= this.#mayBeEmpty
    }
    this.#mayBeEmpty = isEmpty
    return source
  }

  #repeat(): string {
    const operator = this.#active
    if (/^[*+?]$/.test(operator)) {
      this.#at++
      return operator
    }
    if (operator !== '{') return ''
    const [whole = '', least = '', comma = '', most = ''] = /^\{(\d*)(,?)(\d*)\}/.exec(this.#rest()) ?? []
    const [from, to] = [Number(least), most === '' ? Number(least) : Number(most)]
    if (least + most === '' || from > 255 || to > 255 || from > to) throw new Unreadable()
    this.#at += whole.length
    return `{${least === '' ? '0' : least}${comma}${most}}`
  }

  /** The text up to the next quoted character. */
  #rest(): string {
    const rest = this.#text.slice(this.#at, this.#at + 16)
    const end = rest.findIndex(({ quoted }) => quoted)
    return (end === -1 ? rest : rest.slice(0, end)).map(({ text }) => text).join('')
  }

  #atom(): string {
    const character = this.#text[this.#at++]
    if (character === undefined) throw new Unreadable()
    const { text, quoted } = character
    if (quoted) return literal(text)
    if (text === '.') return '(?s:.)'
    if (text === '[') return this.#bracket()
    if (text === '(') {
      const source = this.alternatives()
      if (this.#active !== ')') throw new Unreadable()
      this.#at++
      return `(${source})`
    }
    if (text === '\\') {
      const next = this.#text[this.#at++]
      if (next === undefined || /[1-9<>`']/.test(next.text)) throw new Unreadable()
      return (next.quoted ? undefined : escapes[next.text]) ?? literal(next.text)
    }
    if (/[*+?{]/.test(text)) throw new Unreadable()
    return literal(text)
  }

  /** Reads a bracket expression, in which quotes have no effect. */
  #bracket(): string {
    let source = '['
    if (this.#next === '^') {
      source += '^'
      this.#at++
    }
    for (let start = true; ; start = false) {
      if (this.atEnd) throw new Unreadable()
      if (this.#next === ']' && !start) break
      const [whole, name = ''] = /^\[:(\w*):\]/.exec(this.#rest()) ?? []
      if (whole !== undefined) {
        if (!Object.hasOwn(classes, name) || name === 'ascii' || name === 'word') throw new Unreadable()
        source += classes[name]
        this.#at += whole.length
        continue
      }
      const low = this.#member()
      const after = this.#text[this.#at + 1]?.text
      if (this.#next !== '-' || after === undefined || after === ']') source += low
      else {
        this.#at++
        const high = this.#member()
        if (codeOf(low) > codeOf(high)) throw new Unreadable()
        source += `${low}-${high}`
      }
    }
    this.#at++
    return `${source}]`
  }

  /** Reads a member of a bracket expression. A backslash is an ordinary character there. */
  #member(): string {
    const sign = this.#next === '[' ? (this.#text[this.#at + 1]?.text ?? '') : ''
    if (sign === '.' || sign === '=' || sign === ':') throw new Unreadable()
    return literal(this.#text[this.#at++]?.text ?? '')
  }
}

const codeOf = (source: string) => source.codePointAt(source.length > 1 && source.startsWith('\\') ? 1 : 0) ?? 0

/** Escapes a character for RE2, inside and outside brackets. */
function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|\-/&~]/.test(character) ? `\\${character}` : character
}
