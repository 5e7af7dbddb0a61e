import { type Piece, piecesOf, type ParameterExpansionPart, type Word, type WordPart } from '@ws/command-parser'

import { isArithmetic } from './arithmetic.ts'

/** A part of a word before the shell runs. */
export interface Known {
  /** Its text as it would be in a view; `undefined` when the shell alone knows it. */
  readonly text: string | undefined
  /** At run time it is, or may hold, a path of this machine. */
  readonly host: boolean
  /** Its text is one of many: digits. */
  readonly varies?: true
}

export const digits: Known = { text: '0', host: false, varies: true }
const unknown: Known = { text: undefined, host: false }
const anyPath: Known = { text: undefined, host: true }

/** The known value of a word before the shell runs. */
export interface Value {
  /** Its text as it would be in a view, patterns as written; `undefined` when that is not known. */
  readonly text: string | undefined
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
  /** Replacing the whole word by its text would not change what it means. */
  readonly fixed: boolean
  /** Text follows directly after a path of this machine that may be a mount's own directory, so its end is not known. */
  readonly joined: boolean
  /** A name that `find` or `xargs` puts in is part of it. */
  readonly placed: boolean
  readonly pieces: readonly Piece[]
}

export interface ValueOptions {
  readonly home: string
  /** `bash`, or another POSIX shell. */
  readonly bash: boolean
  /** True for the place of a mount. */
  isMount(path: string): boolean
  /** The variables that the executor sets, and those that the shell sets to paths. */
  lookUp(name: string): Known | undefined
  readonly constants: ReadonlyMap<string, string>
  /** The value of `{}`, in `find -exec` and `xargs -I`. */
  readonly placeholder?: { readonly word: string; readonly known: Known } | undefined
  /** True when a command substitution puts out paths of this machine; analyses it. */
  substitute(part: Extract<WordPart, { type: 'CommandExpansion' }>): boolean
  /** Analyses an arithmetic expression. */
  compute(part: WordPart): void
  /** A construct that cannot be judged. */
  refuse(kind: 'construct' | 'unknown' | 'arithmetic', what: string): never
}

interface Resolved {
  readonly known: Known
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
    } else if (piece.kind === 'glob') {
      // The substitutions in a pattern are not parts of the word.
      if (/[$`]/.test(piece.value)) options.refuse('construct', word.text)
      parts.push(literal(piece.value))
    } else if (piece.kind === 'brace') parts.push(literal(braceText(piece.value, word.text, options)))
    else parts.push({ known: expand(piece.part, options), quoted: piece.quoted, literal: false })
  }
  if (tilde) {
    const text = parts[0]?.known.text ?? ''
    const home: Resolved = { known: { text: options.home, host: true }, quoted: true, literal: true }
    parts.splice(0, 1, home, literal(text.slice(1)))
  }
  const placed = placeholder !== undefined && word.value.includes(placeholder.word)
  const kinds = new Set(pieces.map(({ kind }) => kind))
  const text = combine(parts)
  return {
    text,
    host: firstIsHost(parts),
    tainted: parts.some(({ known }) => known.host),
    glob: kinds.has('glob'),
    brace: kinds.has('brace'),
    splits: parts.some(({ literal: isLiteral, quoted }) => !isLiteral && !quoted),
    plain:
      !placed &&
      pieces.every(({ kind }) => kind === 'text') &&
      !tilde &&
      parts.every(({ literal: isLiteral }) => isLiteral),
    fixed:
      !placed &&
      text !== undefined &&
      !kinds.has('glob') &&
      !kinds.has('brace') &&
      parts.every(({ known }) => known.varies !== true),
    joined: isJoined(parts, options.isMount),
    placed,
    pieces,
  }
}

function literal(text: string): Resolved {
  return { known: { text, host: false }, quoted: false, literal: true }
}

function textParts(text: string, quoted: boolean, placeholder: ValueOptions['placeholder']): Resolved[] {
  if (placeholder === undefined || !text.includes(placeholder.word)) return [{ ...literal(text), quoted }]
  return text
    .split(placeholder.word)
    .flatMap((part, index) => [
      ...(index === 0 ? [] : [{ known: placeholder.known, quoted: true, literal: false }]),
      literal(part),
    ])
}

function isJoined(parts: readonly Resolved[], isMount: (path: string) => boolean): boolean {
  return parts.some(({ known }, index) => {
    const next = parts[index + 1]?.known
    if (next === undefined || !known.host) return false
    if (known.text !== undefined && (known.text === '/' || !isMount(known.text))) return false
    return next.text === undefined || (known.text === undefined ? /^[\w/-]/ : /^[\w-]/).test(next.text)
  })
}

/** `$HOME/x` begins with a path of this machine; so does `""$HOME`. */
function firstIsHost(parts: readonly Resolved[]): boolean {
  for (const { known } of parts) {
    if (known.text === undefined) return false
    if (known.host) return true
    if (known.text !== '') return false
  }
  return false
}

/** One text of a brace without separators. None of its texts is a path of its own, so one is enough to judge all. */
function braceText(text: string, word: string, { bash, refuse }: ValueOptions): string {
  if (!bash) return text
  const range = /^\{[\w-]+\.\.[\w-]+(?:\.\.-?\d+)?\}$/.test(text)
  if (!range && (/[/~$`'"\\]/.test(text) || text.includes('..'))) refuse('construct', word)
  return /^\{\d+\.\./.test(text) ? '0' : 'x'
}

function combine(parts: readonly Resolved[]): string | undefined {
  let text = ''
  for (const { known } of parts) {
    // A path of this machine in the middle of a word is not what it is in a view.
    if (known.text === undefined || (known.host && text !== '')) return undefined
    // The home directory or `$PWD` is the root.
    text = text === '/' && known.text.startsWith('/') ? known.text : text + known.text
  }
  return text
}

function expand(part: WordPart, options: ValueOptions): Known {
  switch (part.type) {
    case 'SimpleExpansion':
      return lookUp(part.text.slice(1), options)
    case 'ParameterExpansion':
      return expandParameter(part, options)
    case 'CommandExpansion':
      return options.substitute(part) ? anyPath : unknown
    case 'ArithmeticExpansion':
      options.compute(part)
      return digits
    default:
      return options.refuse('construct', part.text)
  }
}

const numbers = /^(?:[#?$!]|RANDOM|SECONDS|LINENO|UID|EUID|PPID|SHLVL|BASHPID|EPOCHSECONDS|SRANDOM|OPTIND)$/
/** The shell puts words of the command, or where it is, into these. */
const tellsPlaces = /^(?:BASH.*|DIRSTACK|REPLY|_|COMP_.*|COPROC|MAPFILE|OLDPWD)$/

/** All other variables are texts that only the running shell knows. None holds a path of this machine: see `held`. */
function lookUp(name: string, options: ValueOptions): Known {
  const own = options.lookUp(name)
  if (own !== undefined) return own
  if (numbers.test(name)) return digits
  if (tellsPlaces.test(name)) return anyPath
  const text = options.constants.get(name)
  return text === undefined ? unknown : { text, host: false }
}

function expandParameter(part: ParameterExpansionPart, options: ValueOptions): Known {
  const { parameter, prefix, index, operation } = part
  if (prefix === '!') options.refuse('construct', part.text)
  if (index !== undefined && !/^(?:[@*]|\d+)$/.test(index.text)) options.refuse('arithmetic', part.text)
  const known = lookUp(parameter, options)
  if (prefix === '#')
    return known.host && !/^[@*]$/.test(index?.text ?? '') ? options.refuse('unknown', part.text) : digits
  if (operation === undefined) return index === undefined ? known : known.host ? anyPath : unknown
  if (operation.type === 'Default') {
    if (operation.operator.includes('=')) options.refuse('construct', part.text)
    const other = evaluate(operation.operand, options)
    if (known.text !== undefined && known.text !== '' && !operation.operator.endsWith('+')) return known
    return known.host || other.tainted ? anyPath : unknown
  }
  if (known.host) options.refuse('unknown', part.text)
  // `@P` runs the commands in a text.
  if (operation.type === 'Transform' && !/^[QEULuaA]$/.test(operation.operand.text))
    options.refuse('construct', part.text)
  if (operation.type === 'Remove') {
    if (evaluate(operation.operand, options).tainted) options.refuse('unknown', part.text)
  } else if (operation.type === 'Slice') {
    if (!isArithmetic(`${operation.offset.text} ${operation.length?.text ?? ''}`))
      options.refuse('arithmetic', part.text)
  } else if (/[$`~]/.test(part.text.slice(2))) options.refuse('unknown', part.text)
  return unknown
}
