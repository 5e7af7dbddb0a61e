import { marks, type Use, uses } from '../patterns/marks.ts'
import { type Node, type Operation, type WordPart, type Word, wordOf } from '../state/nodes.ts'

interface Shape {
  readonly type: string
  readonly items?: readonly { patterns: Word[] }[]
  readonly operator?: string
  readonly parameter?: string
  right?: Word
  readonly target?: Word & { readonly content?: Word }
  readonly operation?: Operation | null
}

/** Marks patterns and their quoting for the matcher. just-bash expands the other parts. */
export function markPatterns(node: Node): void {
  const shape = node as unknown as Shape
  if (shape.type === 'Case')
    for (const item of shape.items ?? []) item.patterns = item.patterns.map((word) => marked(word, uses.whole))
  if (shape.type === 'CondBinary' && shape.right !== undefined) {
    if (shape.operator === '=~') shape.right = marked(shape.right, uses.expression)
    else if (/^(?:==?|!=)$/.test(shape.operator ?? '')) {
      const { type, parts } = marked(shape.right, uses.whole, { kind: '+' })
      // Without the empty part, a fully quoted word would be compared as text.
      shape.right = { type, parts: [plain(''), ...parts] }
    }
  }
  if (shape.type === 'Redirection' && shape.operator?.startsWith('<<') === true) keepText(shape)
  if (shape.type === 'DoubleQuoted') keepBackslashes(node as unknown as WordPart)
  if (shape.type === 'ParameterExpansion' && /^[@*]$/.test(shape.parameter ?? '') && shape.operation?.type === 'Length')
    Object.assign(node, { parameter: '#', operation: null })
  if (shape.type === 'ParameterExpansion' && shape.operation)
    markOperation(shape.operation, /^[@*]$|\[[@*]\]$/.test(shape.parameter ?? ''))
}

/** Keeps text unchanged: a here-document keeps backslashes before most characters, and `<<<` expands no braces. */
function keepText({ operator, target }: Shape): void {
  const word = (operator === '<<<' ? target : target?.content) as { parts: readonly WordPart[] } | undefined
  if (word === undefined) return
  word.parts = word.parts.flatMap((part) => {
    const { type, value = '' } = part
    if (operator === '<<<') return type === 'BraceExpansion' ? bracesOf(part, (one) => [one]) : [part]
    return type === 'Escaped' && !/^[$`\\\n]$/.test(value) ? [plain(`\\${value}`)] : [part]
  })
}

/** Keeps the backslash in the double quotes of `"${x:-\\*}"`. */
function keepBackslashes({ parts = [] }: WordPart): void {
  for (const part of parts) {
    const word = part.operation?.word as { parts: readonly WordPart[] } | null | undefined
    if (word)
      word.parts = word.parts.flatMap((one) =>
        one.type === 'Escaped' && !/^[$`"\\}\n]$/.test(one.value ?? '') ? [plain(`\\${one.value}`)] : [one],
      )
  }
}

function markOperation(operation: Operation, isList: boolean): void {
  const { type, side, greedy, all, replacement } = operation
  // The text of an arithmetic expression is already a marked pattern.
  if (operation.pattern?.parts[0]?.parts?.[0]?.value?.startsWith(marks.begin) === true) return
  if (type === 'PatternRemoval') {
    const longest = side === 'prefix' ? uses.longestPrefix : uses.longestSuffix
    const use = greedy === true ? longest : side === 'prefix' ? uses.prefix : uses.suffix
    operation.pattern = marked(operation.pattern, use)
  } else if (type === 'CaseModification') {
    const all: Word = { type: 'Word', parts: [plain(`[!${letters()}]`)] }
    operation.pattern = marked(operation.pattern ?? all, uses.whole)
  } else if (type === 'PatternReplacement') {
    const { anchor = null } = operation
    // In `${x//%/y}`, the `%` is the pattern itself.
    const sign = all === true && anchor !== null ? (anchor === 'start' ? '#' : '%') : ''
    if (sign !== '') operation.anchor = null
    const use = all === true ? uses.every : anchor === null ? uses.once : anchor === 'start' ? uses.start : uses.end
    const word: Word = { type: 'Word', parts: [plain(sign), ...(operation.pattern?.parts ?? [])] }
    operation.pattern = marked(word, use, { kind: isList ? 'l' : '-', watched: watched(replacement?.parts ?? []) })
  }
}

let withoutCase: string | undefined

/** Letters such as `ß`, which bash keeps and just-bash converts to several letters. */
function letters(): string {
  withoutCase ??= Array.from({ length: 0xfb18 - 0xdf }, (_, index) => String.fromCharCode(0xdf + index))
    .filter((letter) => letter.toUpperCase().length > 1 || letter.toLowerCase().length > 1)
    .join('')
  return withoutCase
}

interface Options {
  /** `+`: `@(a|b)` is a group; `l`: the pattern is applied to each element of a list. */
  readonly kind?: '-' | '+' | 'l'
  /** Parts of a replacement that are given to the matcher. */
  readonly watched?: readonly WordPart[]
}

export function marked(word: Word | null | undefined, use: Use, { kind = '-', watched = [] }: Options = {}): Word {
  const parts = (word?.parts ?? []).flatMap((part) => partsOf(part, use === uses.expression))
  const more = watched.length === 0 ? [] : [plain(marks.replacement), ...watched]
  const begin = plain(`${marks.begin}${use}${kind}`)
  return { type: 'Word', parts: [{ type: 'DoubleQuoted', parts: [begin, ...parts, ...more, plain(marks.end)] }] }
}

export const plain = (value: string): WordPart => ({ type: 'Literal', value })
const quoted = (parts: readonly WordPart[]): WordPart[] => [plain(marks.quote), ...parts, plain(marks.unquote)]

function partsOf(part: WordPart, expression: boolean): readonly WordPart[] {
  const { type, value = '', parts = [] } = part
  if (type === 'SingleQuoted') return quoted([plain(value)])
  if (type === 'DoubleQuoted') return quoted(parts)
  // In an expression, a backslash may turn a letter into an operator.
  if (type === 'Escaped') return expression && /\w/.test(value) ? [plain(`\\${value}`)] : quoted([plain(value)])
  if (type === 'TildeExpansion') return quoted([homeOf(part)])
  if (type === 'Glob') return partsOfText(part.pattern ?? '').flatMap((one) => partsOf(one, expression))
  if (type === 'BraceExpansion') return bracesOf(part, (one) => partsOf(one, expression))
  if (type === 'ParameterExpansion') {
    const { operation } = part
    // In `${x:-"*"}`, the inner word is part of the pattern.
    if (operation?.word && operation.type !== 'AssignDefault' && operation.type !== 'ErrorIfUnset') {
      const word: Word = { type: 'Word', parts: operation.word.parts.flatMap((inner) => partsOf(inner, expression)) }
      return [{ ...part, operation: { ...operation, word } }]
    }
  }
  return [part]
}

export function homeOf({ user }: WordPart): WordPart {
  return typeof user === 'string'
    ? plain(`~${user}`)
    : { type: 'ParameterExpansion', parameter: 'HOME', operation: null }
}

/** The text of braces, as parts: braces are not expanded in a pattern. */
export function bracesOf({ items = [] }: WordPart, each: (part: WordPart) => readonly WordPart[]): readonly WordPart[] {
  const inner = items.flatMap(({ word, start, end, step }, index) => [
    ...(index === 0 ? [] : [plain(',')]),
    ...(word?.parts.flatMap(each) ?? [
      plain([start, end, step].filter((one) => one !== undefined && one !== null).join('..')),
    ]),
  ])
  return [plain('{'), ...inner, plain('}')]
}

const token =
  /'[^']*'|"(?:[^"\\$`]|\\[^]|\$(?!\())*"|\\[^]|\$(?:\w+|[*@#?$!-]|\{(?:[^{}'"`$\\]|\$\w+)*\})|\$'(?:[^'\\]|\\[^])*'/g

/** Parses a text such as `@(a|"$b")`, which just-bash leaves unparsed. */
export function partsOfText(text: string): readonly WordPart[] {
  const parts: WordPart[] = []
  let end = 0
  for (const found of text.matchAll(token)) {
    parts.push(plain(text.slice(end, found.index)), ...wordOf(found[0]).parts)
    end = found.index + found[0].length
  }
  parts.push(plain(text.slice(end)))
  return parts.filter(({ value }) => value !== '')
}

/** Parts of a replacement that are given to the matcher. These parts are expanded twice, so parts with commands are excluded. */
const watched = (parts: readonly WordPart[]): readonly WordPart[] =>
  parts
    .filter((part) => !/"type":"(?:Command|Arithmetic|AssignDefault)/.test(JSON.stringify(part)))
    .flatMap((part) => partsOf(part, false))
