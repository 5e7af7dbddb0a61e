import { type WordPart, type Word, wordOf } from '../state/nodes.ts'
import { bracesOf, homeOf, partsOfText, plain } from '../syntax/patterns.ts'
import { keepDefaults } from '../syntax/repairs.ts'
import { isChoice, isList, isStar, mayBeNothing, wordHoldsList } from '../syntax/shapes.ts'
import { boundary, type Piece } from '../words/fields.ts'
import { arrayOf, mostKeys, numbered, withoutNumbers } from '../words/keys.ts'
import type { Command, Interpreter } from '../state/interpreter.ts'
import { sessionOf, shellOf } from '../state/shell.ts'

export type Pieces = readonly (Piece | typeof boundary)[]

/** Names an internal command that gets part of a word as its only argument. Expanding this argument yields the values of the part. */
export const standIn = '\u{f0007}'

/** Expands the parts of words. just-bash returns each value as if it were quoted. */
export class Parts {
  protected readonly self: Interpreter
  readonly #execute: Interpreter['executeSimpleCommand']
  readonly #line: number | undefined
  /** Standard error of commands inside the words. */
  protected errors = ''

  constructor(self: Interpreter, execute: Interpreter['executeSimpleCommand'], line: number | undefined) {
    this.self = self
    this.#execute = execute
    this.#line = line
  }

  protected get ifs(): string {
    const ifs = this.self.ctx.state.env.get('IFS') ?? ' \t\n'
    if (/[*?[\]\\]/.test(ifs))
      sessionOf(this.self).refuse('IFS', 'a sign of patterns in it; quote what must not be split')
    return ifs
  }

  /** @param splits true within `${x:-…}`, whose literal text is split too */
  protected async pieces(part: WordPart, splits = false): Promise<Pieces> {
    const { type, value = '', pattern, parts = [] } = part
    if (type === 'SingleQuoted' || type === 'Escaped') return [{ text: value, quoted: true }]
    if (type === 'Literal')
      return value
        .split(/([*?[\\]+)/)
        .map((text, index) => ({ text, quoted: index % 2 === 1, split: splits }))
        .filter(({ text }) => text !== '')
    if (type === 'Glob')
      return this.#all(partsOfText(pattern ?? ''), async (one) =>
        one.type === 'Literal' ? [{ text: one.value ?? '', quoted: false, split: splits }] : this.pieces(one),
      )
    // Braces inside an expansion. `Words` expands the braces of a whole word.
    if (type === 'BraceExpansion') {
      const inner = bracesOf(part, (one) => [one])
      return this.#all(inner, (one) => this.pieces(one, splits))
    }
    if (type === 'TildeExpansion') return [{ text: (await this.values([part], false)).join(''), quoted: true }]
    if (type === 'DoubleQuoted') return this.#quoted(parts)
    if (isChoice(part)) {
      const { isWord, chosen } = await this.#choose(part)
      return this.#all(chosen, (one) => this.pieces(one, isWord))
    }
    const { operation } = part
    if (
      this.ifs === '' &&
      operation &&
      (isList(part) || isStar(part)) &&
      !/^(?:Substring|ArrayKeys)/.test(operation.type)
    )
      sessionOf(this.self).refuse('IFS', 'empty, where the elements of a list are changed; quote the list')
    const list = listOf(part)
    const separator = this.ifs === '' ? boundary : { text: this.ifs.slice(0, 1), quoted: false, split: true }
    const values = (await this.values([list])).map((text) => ({ text, quoted: false, split: true }))
    return values.flatMap((one, index) => (index === 0 ? [one] : [separator, one]))
  }

  async #quoted(parts: readonly WordPart[]): Promise<Pieces> {
    if (!parts.some((part) => isList(part) || isStar(part)))
      return [{ text: (await this.values(parts)).join(''), quoted: true }]
    let isEmpty = false
    const pieces = await this.#all(parts, async (part): Promise<Pieces> => {
      if (wordHoldsList(part)) {
        const { chosen } = await this.#choose(part)
        return this.#quoted(chosen.flatMap((one) => (one.type === 'DoubleQuoted' ? (one.parts ?? []) : [one])))
      }
      const isText = /^(?:Literal|Escaped)$/.test(part.type)
      if (isStar(part)) return [{ text: (await this.values([listOf(part)])).join(this.ifs.slice(0, 1)), quoted: true }]
      let values = isText ? [part.value ?? ''] : await this.values([part])
      if (mayBeNothing(part) && values.join('') === '') values = []
      isEmpty ||= values.length === 0
      return values.flatMap(
        (text, index): Pieces => [...(index === 0 ? [] : ([boundary] as const)), { text, quoted: true }],
      )
    })
    // Without parameters and with an empty `x`, `"$x$@"` yields no word.
    return isEmpty ? pieces.filter((piece) => piece === boundary || piece.text !== '') : pieces
  }

  async #choose(part: WordPart): Promise<{ readonly isWord: boolean; readonly chosen: readonly WordPart[] }> {
    const { operation } = part
    const test: WordPart = { ...part, operation: { ...operation, type: 'UseAlternative', word: wordOf('1') } }
    const isSet = (await this.values([test])).join('') === '1'
    const isWord = isSet === (operation?.type === 'UseAlternative')
    if (isWord) return { isWord, chosen: operation?.word?.parts ?? [] }
    return { isWord, chosen: isSet ? [{ ...part, operation: null }] : [] }
  }

  async #all(parts: readonly WordPart[], each: (part: WordPart) => Promise<Pieces>): Promise<Pieces> {
    const pieces: Pieces[] = []
    for (const part of parts) pieces.push(await each(part))
    return pieces.flat()
  }

  protected async values(parts: readonly WordPart[], quoted = true): Promise<readonly string[]> {
    const { state } = this.self.ctx
    const shell = shellOf(this.self)
    const word: Word = { type: 'Word', parts: quoted ? [{ type: 'DoubleQuoted', parts: [...parts] }] : parts }
    keepDefaults(word)
    const { lastArg, options } = state
    const { traced } = shell
    const { xtrace } = options
    shell.traced ||= xtrace
    options.xtrace = false
    const putBack = this.#inOrder(parts)
    try {
      await this.#run({ name: { type: 'Word', parts: [plain(standIn)] }, args: [word] })
      return putBack === undefined ? shell.values : shell.values.map(withoutNumbers)
    } finally {
      putBack?.()
      shell.traced = traced
      options.xtrace = xtrace
      state.lastArg = lastArg
    }
  }

  /** Puts the elements of an associative array into bash's order, if the part lists them. Returns a function that undoes this. */
  #inOrder([part, ...others]: readonly WordPart[]): (() => void) | undefined {
    const { arrays, associativeArrays } = this.self.ctx.state
    const name = part === undefined || others.length > 0 ? '' : (arrayOf(part) ?? '')
    const list = associativeArrays?.has(name) === true ? arrays?.get(name) : undefined
    if (list === undefined || list.elements.size < 2) return undefined
    if (list.elements.size > mostKeys || JSON.stringify(part?.operation?.word ?? '').includes(`"${name}[`))
      sessionOf(this.self).refuse(
        `\${${name}[@]}`,
        `more than ${mostKeys} keys, or the array within itself; use a loop`,
      )
    const { elements } = list
    list.elements = numbered(elements)
    return () => (list.elements = elements)
  }

  /** True if the word lists elements while associative arrays exist: their order must be bash's order. */
  protected holdsKeys(word: object): boolean {
    return Boolean(this.self.ctx.state.associativeArrays?.size) && /\[[@*]\]"|"ArrayKeys"/.test(JSON.stringify(word))
  }

  protected async assign(assignments: readonly unknown[]): Promise<void> {
    await this.#run({ name: null, args: [], assignments })
  }

  async #run(command: object): Promise<void> {
    const node = { type: 'SimpleCommand', assignments: [], redirections: [], line: this.#line, ...command }
    this.errors += (await this.#execute.call(this.self, node as unknown as Command, '')).stderr
  }
}

/** Rewrites `${a[*]}` as `${a[@]}`. Outside of quotes, only `${x:=~}` expands a tilde. */
export function listOf(part: WordPart): WordPart {
  const { operation, parameter } = part
  const word = operation?.type === 'AssignDefault' && operation.word
  const parts = word && word.parts.map((one) => (one.type === 'TildeExpansion' ? homeOf(one) : one))
  return {
    ...part,
    ...(parameter === undefined ? {} : { parameter: parameter.replace(/^\*$/, '@').replace(/\[\*\]$/, '[@]') }),
    ...(operation && { operation: { ...operation, star: false, ...(parts && { word: { type: 'Word', parts } }) } }),
  }
}
