import { posixSource } from '../posix.ts'
import { type Address, type Command, type Piece, ScriptProblem } from './script.ts'

export function parseScript(script: string, extended: boolean): Command[] {
  return new Parser(script, extended).all()
}

class Parser {
  #rest: string
  readonly #extended: boolean
  readonly #commands: Command[] = []

  constructor(script: string, extended: boolean) {
    this.#rest = script
    this.#extended = extended
  }

  all(): Command[] {
    const open: Command[] = []
    for (;;) {
      this.#rest = this.#rest.replace(/^[\s;]+/, '')
      if (this.#rest === '') break
      if (this.#rest.startsWith('#')) {
        if (this.#commands.length === 0 && /^#n(?:\n|$)/.test(this.#rest))
          throw new ScriptProblem('a script that begins with #n')
        this.#rest = this.#rest.replace(/^#[^\n]*/, '')
        continue
      }
      const command = this.#command()
      if (command.name === '}') {
        const opened = open.pop()
        if (opened === undefined) throw new ScriptProblem("unexpected `}'")
        opened.end = this.#commands.length
        continue
      }
      this.#commands.push(command)
      if (command.name === '{') open.push(command)
    }
    if (open.length > 0) throw new ScriptProblem("unmatched `{'")
    const labels = new Set(this.#commands.filter(({ name }) => name === ':').map(({ label }) => label))
    for (const { name, label = '' } of this.#commands)
      if ('btT'.includes(name) && label !== '' && !labels.has(label))
        throw new ScriptProblem(`can't find label for jump to \`${label}'`)
    return this.#commands
  }

  #take(pattern: RegExp): string | undefined {
    const [found] = pattern.exec(this.#rest) ?? []
    if (found !== undefined) this.#rest = this.#rest.slice(found.length)
    return found
  }

  #command(): Command {
    const from = this.#address()
    let to: Address | undefined
    if (from !== undefined && this.#take(/^\s*,\s*/) !== undefined) {
      to = this.#address(true)
      if (to === undefined) throw new ScriptProblem("unexpected `,'")
      if (from.type === 'line' && from.number === 0) throw new ScriptProblem('the address 0')
    }
    if (from?.type === 'line' && from.number === 0) throw new ScriptProblem('invalid usage of line address 0')
    this.#take(/^\s+/)
    const negated = this.#take(/^!\s*/) !== undefined
    const name = this.#take(/^[^]/u) ?? ''
    const base = { name, negated, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
    if (name === '{') return base
    if (name === '}') {
      if (from !== undefined) throw new ScriptProblem('} does not want any addresses')
      this.#end(true)
      return base
    }
    if ('=dDgGhHnNpPxz'.includes(name) && name !== '') {
      this.#end()
      return base
    }
    switch (name) {
      case 'q':
      case 'Q': {
        const code = this.#take(/^[ \t]*\d+/)
        this.#end()
        return { ...base, code: Number(code ?? 0) }
      }
      case ':': {
        const label = this.#take(/^[ \t]*[^\s;}]+/)?.trim()
        if (label === undefined) throw new ScriptProblem('":" lacks a label')
        this.#end(true)
        return { ...base, label }
      }
      case 'b':
      case 't':
      case 'T': {
        const label = this.#take(/^[ \t]*[^\s;}]*/)?.trim() ?? ''
        this.#end()
        return { ...base, label }
      }
      case 'a':
      case 'i':
      case 'c':
        return { ...base, text: this.#text() }
      case 's':
        return this.#substitution(base)
      case 'y':
        return this.#transliteration(base)
      default:
        throw new ScriptProblem(name === '' ? 'missing command' : `the command \`${name}\``)
    }
  }

  #end(brace = false): void {
    const found = this.#take(/^[ \t]*(?:[;\n]|(?=\})|(?=#)|$)/)
    if (found === undefined && !brace) throw new ScriptProblem('extra characters after command')
  }

  #address(second = false): Address | undefined {
    const step = /^(\d+)~(\d+)/.exec(this.#rest)
    if (step !== null && !second) {
      this.#rest = this.#rest.slice(step[0].length)
      return { type: 'step', first: Number(step[1]), step: Number(step[2]) }
    }
    const number = this.#take(/^\d+/)
    if (number !== undefined) return { type: 'line', number: Number(number) }
    if (this.#take(/^\$/) !== undefined) return { type: 'last' }
    const relative = second ? this.#take(/^[+~]\d+/) : undefined
    if (relative !== undefined)
      return { type: relative.startsWith('+') ? 'count' : 'multiple', number: Number(relative.slice(1)) }
    const opening = this.#take(/^(?:\/|\\[^\n\\])/)
    if (opening === undefined) return undefined
    const pattern = this.#until(opening.slice(-1), true)
    const fold = this.#take(/^I/) !== undefined
    if (this.#rest.startsWith('M')) throw new ScriptProblem('the flag M')
    return { type: 'regex', regex: this.#regex(pattern, fold, '') }
  }

  /** The text before the delimiter, which is consumed too. After a backslash, the delimiter is literal. */
  #until(delimiter: string, brackets: boolean): string {
    const text = this.#rest
    let inside = false
    let found = ''
    for (let index = 0; index < text.length; index++) {
      const character = text[index] ?? ''
      if (character === '\\' && !inside) {
        const next = text[index + 1] ?? ''
        if (next === delimiter && delimiter !== '/' && /[.*[\]^$+?(){}|&\d]/.test(delimiter))
          throw new ScriptProblem(`an escaped \`${delimiter}\` as its own delimiter`)
        found += next === delimiter ? delimiter : character + next
        index++
      } else if (character === delimiter && !inside) {
        this.#rest = text.slice(index + 1)
        return found
      } else if (character === '\n' && brackets) break
      else {
        found += character
        if (brackets && character === '[' && !inside) {
          inside = true
          const [first = ''] = /^\^?\]?/.exec(text.slice(index + 1)) ?? []
          found += first
          index += first.length
        } else if (character === '[' && inside && /^[:.=]/.test(text[index + 1] ?? '')) {
          const close = text.indexOf(`${text[index + 1]}]`, index + 2)
          if (close === -1) break
          found += text.slice(index + 1, close + 2)
          index = close + 1
        } else if (character === ']' && inside) inside = false
      }
    }
    throw new ScriptProblem("an expression or `s' that is not closed")
  }

  /** @returns undefined for an empty pattern, which means the last used pattern */
  #regex(pattern: string, fold: boolean, flags: string): RegExp | undefined {
    if (pattern === '') return undefined
    const plain = pattern.replace(/\\([nt])/g, (_, letter: string) => (letter === 'n' ? '\n' : '\t'))
    const source = posixSource(plain, { extended: this.#extended, longest: true, lines: true })
    if (source === undefined) throw new ScriptProblem(`the regular expression \`${pattern}\``)
    try {
      return new RegExp(source, `gu${fold ? 'i' : ''}${flags}`)
    } catch {
      throw new ScriptProblem(`the regular expression \`${pattern}\``)
    }
  }

  #text(): string {
    this.#take(/^[ \t]*/)
    // After `a\`, the text is on the next line, or follows directly. Its leading blanks are then kept.
    const continued = this.#take(/^\\(?:\n|(?=[^]))/)
    if (continued === undefined && this.#rest.startsWith('\\')) this.#take(/^\\/)
    if (this.#rest === '') throw new ScriptProblem("`a', `c' or `i' without a text")
    let text = ''
    while (this.#rest !== '') {
      const character = this.#rest[0] ?? ''
      this.#rest = this.#rest.slice(1)
      if (character === '\n') return text
      if (character !== '\\') text += character
      else {
        const next = this.#rest[0] ?? ''
        if (/[a-zA-Z0-9]/.test(next) && next !== 't') throw new ScriptProblem(`\`\\${next}\` in a text`)
        text += next === 't' ? '\t' : next
        this.#rest = this.#rest.slice(1)
      }
    }
    return text
  }

  #delimiter(name: string): string {
    const delimiter = this.#take(/^[^\n\\]/u)
    if (delimiter === undefined) throw new ScriptProblem(`unterminated \`${name}' command`)
    return delimiter
  }

  #substitution(base: Command): Command {
    const delimiter = this.#delimiter('s')
    const pattern = this.#until(delimiter, true)
    const pieces = this.#pieces(this.#until(delimiter, false))
    const flags = this.#take(/^[gpIi0-9]*/) ?? ''
    if (/^[ewmM]/.test(this.#rest)) throw new ScriptProblem(`the flag \`${this.#rest[0]}\` of \`s\``)
    const [digits] = /\d+/.exec(flags) ?? []
    if (digits === '0' || (flags.match(/\d+/g) ?? []).length > 1) throw new ScriptProblem('the number of `s`')
    this.#end()
    const regex = this.#regex(pattern, /[iI]/.test(flags), '')
    return { ...base, regex, pieces, all: flags.includes('g'), number: Number(digits ?? 1), print: flags.includes('p') }
  }

  #pieces(text: string): Piece[] {
    const pieces: Piece[] = []
    for (const part of text.match(/\\[^]|&|[^\\&]+/gu) ?? []) {
      if (part === '&') pieces.push(0)
      else if (!part.startsWith('\\')) pieces.push(part)
      else {
        const letter = part.slice(1)
        if (/\d/.test(letter)) pieces.push(Number(letter))
        else if (/[ULulE]/.test(letter)) pieces.push({ fold: letter as 'U' })
        else if (letter === 'n') pieces.push('\n')
        else if (letter === 't') pieces.push('\t')
        else if (letter === 'r') pieces.push('\r')
        else if (/[A-Za-z]/.test(letter)) throw new ScriptProblem(`\`${part}\` in a replacement`)
        else pieces.push(letter)
      }
    }
    return pieces
  }

  #transliteration(base: Command): Command {
    const delimiter = this.#delimiter('y')
    const characters = () => [
      ...this.#until(delimiter, false).replace(/\\([\\n])/g, (_, letter: string) => (letter === 'n' ? '\n' : '\\')),
    ]
    const from = characters()
    const to = characters()
    if (from.length !== to.length) throw new ScriptProblem("strings for `y' command are different lengths")
    this.#end()
    return { ...base, table: new Map(from.map((character, index) => [character, to[index] ?? ''])) }
  }
}
