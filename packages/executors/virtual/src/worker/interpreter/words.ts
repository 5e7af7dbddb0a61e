import type { ExecResult } from 'just-bash'

import { TooMuchWork } from '../patterns/match.ts'
import { OddPattern } from '../patterns/parse.ts'
import { type ForLoop, literal, literalWord, type WordPart, type SimpleCommand, type Word } from '../state/nodes.ts'
import { plain } from '../syntax/patterns.ts'
import * as shapes from '../syntax/shapes.ts'
import { type Field, fieldsOf } from '../words/fields.ts'
import { namesOf, type GlobContext } from '../words/names.ts'
import { listOf, Parts, type Pieces } from './parts.ts'
import { replaced } from './references.ts'
import { sessionOf } from '../state/shell.ts'

const declarations = /^(?:declare|typeset|local|export|readonly)$/
/** Limit of words from one pair of braces, and of directory entries examined for one word. */
const most = 1_000_000

interface Redirection {
  readonly operator: string
  readonly target: Word
}

/** Turns the expanded parts of a command into words, by braces, IFS and file names. */
export class Words extends Parts {
  /** Runs a command with expanded words. The errors of the expansion precede the errors of the command. */
  async run<Node extends object>(node: Node, work: (ready: Node) => Promise<ExecResult>): Promise<ExecResult> {
    const { redirections = [] } = node as { readonly redirections?: readonly Redirection[] }
    const targets: unknown[] = []
    let ambiguous = ''
    for (const one of redirections) {
      if (one.operator.startsWith('<<')) {
        targets.push({ ...one, target: await this.#document(one.target) })
        continue
      }
      const isFile = /^(?:&?>>?|>\||<|<>)$/.test(one.operator)
      const [target, ...others] =
        isFile && shapes.isOpen(one.target) ? await this.#literals([one.target]) : [one.target]
      if (target === undefined || others.length > 0 || (isFile && shapes.holdsBraces(target)))
        ambiguous ||= one.target.parts.map(nameOf).join('')
      targets.push({ ...one, target })
    }
    const failure = { stdout: '', stderr: `bash: ${ambiguous}: ambiguous redirect\n`, exitCode: 1 }
    const ready = redirections.length === 0 ? node : { ...node, redirections: targets }
    try {
      const result = ambiguous === '' ? await work(ready) : failure
      return this.errors === '' ? result : { ...result, stderr: this.errors + result.stderr }
    } catch (error) {
      if (error instanceof Error && 'prependOutput' in error)
        (error as { prependOutput(stdout: string, stderr: string): void }).prependOutput('', this.errors)
      throw error
    }
  }

  async ofCommand<Node extends SimpleCommand>(node: Node): Promise<Node> {
    const { name, args, assignments = [] } = node
    const { arrays, associativeArrays = [] } = this.self.ctx.state
    for (const one of associativeArrays)
      for (const key of ['*', '@'])
        if (arrays?.get(one)?.elements.has(key) === true)
          sessionOf(this.self).refuse(`${one}[${key}]`, 'a key that stands for a list; put a letter before each key')
    const isText = declarations.test(literal(name) ?? '') ? shapes.isAssignment : undefined
    const words = [
      ...(name === null ? [] : shapes.isOpenName(name) || this.#isOpenList(name) ? await this.#expanded(name) : [name]),
      ...(await this.#literals(args, isText)),
    ]
    const assigned: unknown[] = []
    for (const one of assignments) {
      const { array, value } = one
      // The assignments in `IFS=, a=($x)` take effect one after the other.
      if (array && name === null && assigned.length > 0) await this.assign(assigned.splice(0))
      if (array) assigned.push({ ...one, array: await this.#literals(array, shapes.isKeyed) })
      else assigned.push(value ? { ...one, value: await this.#text(value) } : one)
    }
    return { ...node, name: words[0] ?? null, args: words.slice(1), assignments: assigned }
  }

  #isOpenList(word: Word): boolean {
    return this.holdsKeys(word) && word.parts.every(({ type }) => type !== 'ProcessSubstitution')
  }

  /** Expands words of `[[ … ]]` and `case`, where just-bash joins `${a[*]}` with blanks. */
  async ofTest<Node extends object>(node: Node): Promise<Node> {
    if (this.ifs.startsWith(' ') && !this.holdsKeys(node)) return node
    return (await replaced(node, async (value) => {
      const part = value as WordPart
      const isStar = shapes.isStar(part)
      if (!isStar && (!shapes.isList(part) || shapes.isChoice(part))) return value
      return plain((await this.values([listOf(part)])).join(isStar ? this.ifs.slice(0, 1) : ' '))
    })) as Node
  }

  async ofLoop<Node extends ForLoop>(node: Node): Promise<Node> {
    return { ...node, words: await this.#literals(node.words ?? []) }
  }

  async #literals(words: readonly Word[], isText: (word: Word) => boolean = () => false): Promise<Word[]> {
    const all: Word[] = []
    const mayBeOpen = (word: Word) => shapes.isOpen(word) || this.#isOpenList(word)
    const last = words.findLastIndex(mayBeOpen)
    // just-bash expands the remaining words after this loop. To order effects, the loop also expands words before the last open word.
    const inOrder = words.slice(0, last + 1).some(shapes.hasEffect)
    for (const [index, word] of words.entries()) {
      const isOpen = mayBeOpen(word) || (inOrder && index < last && shapes.isExpanded(word))
      if (isText !== shapes.isAssignment || !isText(word))
        all.push(...(isText(word) || !isOpen ? [word] : await this.#expanded(word)))
      else if (shapes.holdsBraces(word))
        sessionOf(this.self).refuse('{…}', 'in a declaration it makes several of it; quote it')
      else all.push(await this.#text(word))
    }
    return all
  }

  /** Expands text that is not split, if just-bash's result would differ. Here-documents join lists with blanks. */
  async #text(word: Word, isDocument = false): Promise<Word> {
    if (!shapes.isOddText(word)) return word
    const separator = isDocument ? ' ' : this.ifs.slice(0, 1) || ' '
    let text = ''
    const parts = word.parts.flatMap((outer) =>
      shapes.flat(outer).map((part) => ({ part, isQuoted: outer.type === 'DoubleQuoted' })),
    )
    for (const { part, isQuoted } of parts) {
      const { type, value = '', operation, parameter } = part
      const isStar = isDocument && (parameter === '*' || (operation && parameter?.endsWith('[*]') === true))
      const list = isStar ? { ...part, parameter: parameter?.replace('*', '@') } : part
      if (/^(?:Literal|SingleQuoted|Escaped)$/.test(type)) text += value
      else {
        const isJoined = isQuoted || !shapes.isList(part) || operation?.type === 'PatternRemoval'
        text += (await this.values([list], type !== 'TildeExpansion')).join(operation && isJoined ? separator : ' ')
      }
    }
    return literalWord(text)
  }

  async #document(target: Word & { readonly content?: Word }): Promise<Word> {
    if (target.content === undefined) return this.#text(target)
    return { ...target, content: await this.#text(target.content, true) } as Word
  }

  async #expanded({ parts }: Word): Promise<Word[]> {
    const words: Word[] = []
    for (const one of await this.#alternatives(parts)) {
      const pieces: Pieces[] = []
      for (const part of one) pieces.push(await this.pieces(part))
      for (const field of fieldsOf(pieces.flat(), this.ifs, one.some(shapes.isSplit)))
        for (const text of await this.#names(field)) words.push(literalWord(text))
    }
    return words
  }

  async #alternatives(parts: readonly WordPart[]): Promise<(readonly WordPart[])[]> {
    const at = parts.findIndex(({ type }) => type === 'BraceExpansion')
    const braces = parts[at]
    if (braces === undefined) return [parts]
    const words: (readonly WordPart[])[] = []
    for (const item of braces.items ?? []) {
      const range = item.word === undefined ? await this.values([{ ...braces, items: [item] }], false) : []
      for (const one of item.word === undefined ? range.map((text) => [plain(text)]) : [item.word.parts])
        for (const rest of await this.#alternatives([...one, ...parts.slice(at + 1)]))
          if (words.push([...parts.slice(0, at), ...rest]) > most)
            sessionOf(this.self).refuse('{…}', `more than ${most} words`)
    }
    return words
  }

  async #names(field: Field): Promise<readonly string[]> {
    const text = field.map((piece) => piece.text).join('')
    const { state, fs } = this.self.ctx
    const { nullglob, dotglob } = state.shoptOptions
    if (state.options.noglob) return [text]
    const session = sessionOf(this.self)
    const ignored = state.env.get('GLOBIGNORE')
    if (ignored === '' || (ignored !== undefined && dotglob))
      session.refuse('GLOBIGNORE', 'empty, or beside dotglob; unset it')
    let left = most
    const count = (entries: number) => {
      session.check()
      left -= entries
      if (left < 0) session.refuse(text, `more than ${most} files are looked at; use find`)
    }
    try {
      const place = {
        files: fs as GlobContext['files'],
        cwd: state.cwd,
        dots: dotglob || ignored !== undefined,
        ignored,
        count,
      }
      const names = await namesOf(field, place)
      return names === undefined || (names.length === 0 && !nullglob) ? [text] : names
    } catch (error) {
      if (!(error instanceof OddPattern || error instanceof TooMuchWork)) throw error
      return session.refuse(text, `${error.message || 'the pattern takes too many steps'}; use find`)
    }
  }
}

const nameOf = ({ parameter, pattern, value = '' }: WordPart) =>
  parameter === undefined ? (pattern ?? (value || '…')) : `$${parameter}`
