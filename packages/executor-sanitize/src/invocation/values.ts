import { type Piece, piecesOf, type ParameterExpansionPart, type Word, type WordPart } from '@ws/command-parser'

import { isArithmetic, isTainted, lookUp, mostTexts, type State, type Variable } from './state.ts'

/** The known values of a word before the shell runs. */
export interface Value {
  /** Every text it can have, as it would be in a view, patterns as written; `undefined` when that is not known. */
  readonly texts: readonly string[] | undefined
  /** It begins with a path that is one of this machine already: `$PWD`, `~`. */
  readonly host: boolean
  /** At run time it holds a path of this machine somewhere. */
  readonly tainted: boolean
  /** It has an unquoted pattern. */
  readonly glob: boolean
  readonly brace: boolean
  /** An unquoted expansion, which the shell splits into words. */
  readonly splits: boolean
  /** It has no expansion, pattern or brace: it can be replaced as a whole. */
  readonly plain: boolean
  /** Replacing the whole word by its one text would not change what it means. */
  readonly fixed: boolean
  /** Text goes on right behind a path of this machine that may be a mount's own directory: nobody could tell where it ends. */
  readonly joined: boolean
  /** A name that `find` or `xargs` puts in is part of it. */
  readonly placed: boolean
  readonly pieces: readonly Piece[]
}

export interface ValueOptions {
  readonly state: State
  readonly home: string
  /** `bash`, or another POSIX shell. */
  readonly bash: boolean
  /** True for the place of a mount. */
  isMount(path: string): boolean
  /** True for a path that lies below the place of a mount: the place itself has another name on this machine. */
  isBelowMount(path: string): boolean
  /** The value of `{}`, in `find -exec` and `xargs -I`. */
  readonly placeholder?: { readonly word: string; readonly variable: Variable } | undefined
  /** True when a command substitution puts out paths of this machine; analyses it. */
  substitute(part: Extract<WordPart, { type: 'CommandExpansion' }>): Variable
  /** Analyses what is in an arithmetic expression. */
  compute(part: WordPart): void
  /** A construct that cannot be judged. */
  refuse(kind: 'construct' | 'unknown', what: string): never
}

interface Resolved {
  readonly variable: Variable
  readonly quoted: boolean
  readonly literal: boolean
}

export function evaluate(word: Word, options: ValueOptions): Value {
  const pieces = piecesOf(word)
  const { placeholder } = options
  const parts: Resolved[] = []
  const tilde = /^~(?=\/|$)/.test(word.text)
  if (!tilde && word.text.startsWith('~')) options.refuse('unknown', word.text)
  for (const piece of pieces) {
    if (piece.kind === 'text') {
      // `a=~` and `a=b:~` become the home directory as well.
      if (!piece.quoted && /[=:]~/.test(piece.value)) options.refuse('unknown', word.text)
      if (!options.bash && piece.quoted && /\$['"]/.test(word.text)) options.refuse('construct', word.text)
      parts.push(...textParts(piece.value, piece.quoted, placeholder))
    } else if (piece.kind === 'glob') parts.push(literal(piece.value))
    else if (piece.kind === 'brace') parts.push(literal(braceText(piece.value, word.text, options)))
    else parts.push({ variable: expand(piece.part, options), quoted: piece.quoted, literal: false })
  }
  if (tilde) {
    const first = parts[0]
    const text = first?.variable.kind === 'texts' ? (first.variable.texts[0] ?? '') : ''
    const home: Resolved = {
      variable: { kind: 'texts', texts: [options.home], host: true },
      quoted: true,
      literal: true,
    }
    parts.splice(0, 1, home, literal(text.slice(1)))
  }
  const placed = placeholder !== undefined && word.value.includes(placeholder.word)
  const kinds = new Set(pieces.map(({ kind }) => kind))
  const texts = combine(parts)
  const splits = parts.some(({ literal: isLiteral, quoted }) => !isLiteral && !quoted)
  return {
    texts,
    host: firstIsHost(parts),
    tainted: parts.some(({ variable }) =>
      variable.kind === 'texts' ? variable.host : variable.kind === 'opaque' && variable.tainted,
    ),
    glob: kinds.has('glob'),
    brace: kinds.has('brace'),
    splits,
    plain:
      !placed &&
      pieces.every(({ kind }) => kind === 'text') &&
      !tilde &&
      parts.every(({ literal: isLiteral }) => isLiteral),
    fixed:
      !placed &&
      texts?.length === 1 &&
      !kinds.has('glob') &&
      !kinds.has('brace') &&
      parts.every(({ variable }) => variable.kind === 'texts'),
    joined: isJoined(parts, options.isMount),
    placed,
    pieces,
  }
}

function literal(text: string): Resolved {
  return { variable: { kind: 'texts', texts: [text], host: false }, quoted: false, literal: true }
}

function textParts(text: string, quoted: boolean, placeholder: ValueOptions['placeholder']): Resolved[] {
  if (placeholder === undefined || !text.includes(placeholder.word)) return [{ ...literal(text), quoted }]
  return text
    .split(placeholder.word)
    .flatMap((part, index) => [
      ...(index === 0 ? [] : [{ variable: placeholder.variable, quoted: true, literal: false }]),
      literal(part),
    ])
}

function isJoined(parts: readonly Resolved[], isMount: (path: string) => boolean): boolean {
  return parts.some(({ variable }, index) => {
    const next = parts[index + 1]?.variable
    if (next === undefined || variable.kind === 'number') return false
    const own =
      variable.kind === 'opaque'
        ? variable.tainted
        : variable.host && variable.texts.some((text) => text !== '/' && isMount(text))
    if (!own) return false
    const continued = variable.kind === 'opaque' ? /^[\w/-]/ : /^[\w-]/
    return next.kind !== 'texts' || next.texts.some((text) => continued.test(text))
  })
}

/** `$HOME/x` begins with a path of this machine; so does `""$HOME`. */
function firstIsHost(parts: readonly Resolved[]): boolean {
  for (const { variable } of parts) {
    if (variable.kind !== 'texts') return false
    if (variable.host) return true
    if (variable.texts.some((text) => text !== '')) return false
  }
  return false
}

/** A brace that holds no separator can stand for no path of its own; one of its texts does for all. */
function braceText(text: string, word: string, { bash, refuse }: ValueOptions): string {
  if (!bash) return text
  const range = /^\{[\w-]+\.\.[\w-]+(?:\.\.-?\d+)?\}$/.test(text)
  if (!range && (/[/~$`'"\\]/.test(text) || text.includes('..'))) refuse('construct', word)
  return /^\{\d+\.\./.test(text) ? '0' : 'x'
}

function combine(parts: readonly Resolved[]): readonly string[] | undefined {
  let texts: readonly string[] = ['']
  let first = true
  for (const { variable } of parts) {
    if (variable.kind === 'opaque') return undefined
    const own = variable.kind === 'number' ? ['0'] : variable.texts
    // A path of this machine in the middle of a word is not what it is in a view.
    if (variable.kind === 'texts' && variable.host && !first) return undefined
    texts = texts.flatMap((text) => own.map((more) => join(text, more)))
    if (texts.length > mostTexts) return undefined
    if (own.some((text) => text !== '')) first = false
  }
  return texts
}

/** `/` and `/x`: the home directory or `$PWD` is the root. */
function join(text: string, more: string): string {
  return text === '/' && more.startsWith('/') ? more : text + more
}

function expand(part: WordPart, options: ValueOptions): Variable {
  const { state, refuse } = options
  switch (part.type) {
    case 'SimpleExpansion':
      return lookUp(part.text.slice(1), state)
    case 'ParameterExpansion':
      return expandParameter(part, options)
    case 'CommandExpansion':
      return options.substitute(part)
    case 'ArithmeticExpansion':
      options.compute(part)
      return { kind: 'number' }
    default:
      return refuse('construct', part.text)
  }
}

function expandParameter(part: ParameterExpansionPart, options: ValueOptions): Variable {
  const { parameter, prefix, index, operation } = part
  if (prefix === '!') options.refuse('construct', part.text)
  const all = index === undefined || /^[@*]$/.test(index.text)
  if (!all && !isArithmetic(index.text, options.state)) options.refuse('unknown', part.text)
  const variable = index === undefined ? lookUp(parameter, options.state) : ({ kind: 'opaque', tainted: true } as const)
  const tainted = isTainted(variable)
  if (prefix === '#') {
    const counted = index === undefined ? /^[@*#]$/.test(parameter) : all
    return tainted && !counted ? options.refuse('unknown', part.text) : { kind: 'number' }
  }
  if (operation === undefined) return variable
  if (operation.type === 'Remove') {
    const { operand, operator } = operation
    const removed = evaluate(operand, options)
    const [text] = removed.texts ?? []
    // A part of a path of this machine is a part of the path in a view only as long as it is below a mount.
    const below = variable.kind === 'texts' && variable.texts.every((own) => options.isBelowMount(own))
    if (removed.tainted || (tainted && !below)) options.refuse('unknown', part.text)
    if (operator === '##' && operand.text === '*/') return { kind: 'opaque', tainted: false }
    if (operator.startsWith('%') && variable.kind === 'texts' && removed.fixed && !/[/*?[]/.test(text ?? '/')) {
      const ending = text ?? ''
      return {
        ...variable,
        texts: variable.texts.map((own) => (own.endsWith(ending) ? own.slice(0, own.length - ending.length) : own)),
      }
    }
  } else if (operation.type === 'Slice') {
    const { offset, length } = operation
    if (!isArithmetic(`${offset.text} ${length?.text ?? ''}`, options.state)) options.refuse('unknown', part.text)
  } else if (operation.type !== 'Default' && /[$`~]/.test(part.text.slice(2))) options.refuse('unknown', part.text)
  if (tainted && operation.type !== 'Default') options.refuse('unknown', part.text)
  if (operation.type === 'Default') {
    const other = evaluate(operation.operand, options)
    const set = variable.kind === 'texts' && variable.texts.every((text) => text !== '')
    if (set && /^:?[-=?]$/.test(operation.operator)) return variable
    if (operation.operator.includes('=')) options.refuse('construct', part.text)
    const isEmpty = variable.kind === 'texts' && variable.texts.every((text) => text === '')
    if (isEmpty && operation.operator.endsWith('-') && other.texts !== undefined && !other.tainted && !other.glob) {
      return { kind: 'texts', texts: other.texts, host: false }
    }
    return { kind: 'opaque', tainted: tainted || other.tainted }
  }
  return { kind: 'opaque', tainted }
}
