import { type Part, type Word, wordOf } from '../syntax/nodes.ts'
import { bracesOf, partsOfText, plain } from '../syntax/patterns.ts'
import { keepDefaults } from '../syntax/repairs.ts'
import { isChoice, isList, wordHoldsList } from '../syntax/shapes.ts'
import { boundary, type Piece } from '../words/fields.ts'
import type { Command, Interpreter } from './interpreter.ts'
import { sessionOf, shellOf } from './shell.ts'

export type Pieces = readonly (Piece | typeof boundary)[]

/** The name of the command whose words are the values of a part. */
export const standIn = '\u{f0007}'

/** Expands the parts of words. just-bash gives the value of each, as if it stood in quotes. */
export class Parts {
  protected readonly self: Interpreter
  readonly #execute: Interpreter['executeSimpleCommand']
  readonly #line: number | undefined
  /** Text that commands in the words have written to standard error. */
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

  /** @param splits true within `${x:-…}`, whose text is split too */
  protected async pieces(part: Part, splits = false): Promise<Pieces> {
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
    // Not those of a whole word.
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
    const { operation, parameter } = part
    const list = {
      ...part,
      ...(parameter === undefined ? {} : { parameter: parameter.replace(/^\*$/, '@').replace(/\[\*\]$/, '[@]') }),
      ...(operation?.star === true ? { operation: { ...operation, star: false } } : {}),
    }
    const separator = this.ifs === '' ? boundary : { text: this.ifs.slice(0, 1), quoted: false, split: true }
    const values = (await this.values([list])).map((text) => ({ text, quoted: false, split: true }))
    return values.flatMap((one, index) => (index === 0 ? [one] : [separator, one]))
  }

  async #quoted(parts: readonly Part[]): Promise<Pieces> {
    if (!parts.some(isList)) return [{ text: (await this.values(parts)).join(''), quoted: true }]
    let isEmpty = false
    const pieces = await this.#all(parts, async (part): Promise<Pieces> => {
      if (wordHoldsList(part)) {
        const { chosen } = await this.#choose(part)
        return this.#quoted(chosen.flatMap((one) => (one.type === 'DoubleQuoted' ? (one.parts ?? []) : [one])))
      }
      const values = /^(?:Literal|Escaped)$/.test(part.type) ? [part.value ?? ''] : await this.values([part])
      isEmpty ||= values.length === 0
      return values.flatMap(
        (text, index): Pieces => [...(index === 0 ? [] : ([boundary] as const)), { text, quoted: true }],
      )
    })
    // `"$x$@"` without parameters is no word where `x` is empty.
    return isEmpty ? pieces.filter((piece) => piece === boundary || piece.text !== '') : pieces
  }

  /** The word that `${x-…}` or `${x+…}` stands for, or the parameter itself. */
  async #choose(part: Part): Promise<{ readonly isWord: boolean; readonly chosen: readonly Part[] }> {
    const { operation } = part
    const test: Part = { ...part, operation: { ...operation, type: 'UseAlternative', word: wordOf('1') } }
    const isSet = (await this.values([test])).join('') === '1'
    const isWord = isSet === (operation?.type === 'UseAlternative')
    if (isWord) return { isWord, chosen: operation?.word?.parts ?? [] }
    return { isWord, chosen: isSet ? [{ ...part, operation: null }] : [] }
  }

  async #all(parts: readonly Part[], each: (part: Part) => Promise<Pieces>): Promise<Pieces> {
    const pieces: Pieces[] = []
    for (const part of parts) pieces.push(await each(part))
    return pieces.flat()
  }

  protected async values(parts: readonly Part[], quoted = true): Promise<readonly string[]> {
    const { state } = this.self.ctx
    const shell = shellOf(this.self)
    const word: Word = { type: 'Word', parts: quoted ? [{ type: 'DoubleQuoted', parts: [...parts] }] : parts }
    keepDefaults(word)
    const { lastArg, options } = state
    const { traced } = shell
    const { xtrace } = options
    shell.traced ||= xtrace
    options.xtrace = false
    try {
      await this.#run({ name: { type: 'Word', parts: [plain(standIn)] }, args: [word] })
      return shell.values
    } finally {
      shell.traced = traced
      options.xtrace = xtrace
      state.lastArg = lastArg
    }
  }

  /** Makes assignments without a command. */
  protected async assign(assignments: readonly unknown[]): Promise<void> {
    await this.#run({ name: null, args: [], assignments })
  }

  async #run(command: object): Promise<void> {
    const node = { type: 'SimpleCommand', assignments: [], redirections: [], line: this.#line, ...command }
    this.errors += (await this.#execute.call(this.self, node as unknown as Command, '')).stderr
  }
}
