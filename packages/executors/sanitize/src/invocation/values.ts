import { type Piece, piecesOf, type Word, type WordPart } from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { AnalysisContext } from './analysis-context.ts'

interface Known {
  /** The text as in a view; `undefined` if only the shell knows it. */
  readonly text: string | undefined
  /** True if the value is, or may contain, a host path. */
  readonly host: boolean
  /** True if the text is one of many possible numbers. */
  readonly varies?: true
}

/** The value of a word, as far as it is known before the shell runs. */
export interface Value {
  /** The text as in a view, with patterns unexpanded; `undefined` if unknown. */
  readonly text: string | undefined
  /** True if the word begins with a host path: `$PWD`, `~`. */
  readonly host: boolean
  /** True if the word contains a host path at any position. */
  readonly tainted: boolean
  /** True if the word has an unquoted pattern. */
  readonly glob: boolean
  /** True if the word has an unquoted expansion, which the shell splits into words. */
  readonly splits: boolean
  /** True if the text can replace the whole word without changing its meaning. */
  readonly fixed: boolean
  /** True if text directly follows a host path that may be a mount's directory. The end of that path is then unknown. */
  readonly joined: boolean
  readonly pieces: readonly Piece[]
}

interface Resolved {
  readonly known: Known
  readonly splits?: boolean
}

const unknown: Known = { text: undefined, host: false }
const anyPath: Known = { text: undefined, host: true }
const literal = (text: string): Resolved => ({ known: { text, host: false } })

/** @throws Refusal for an expansion that is not a plain variable */
export function evaluate(word: Word, context: AnalysisContext): Value {
  const { view, bash } = context.settings
  const pieces = piecesOf(word)
  const tilde = /^~(?=\/|$)/.test(word.text)
  if (!tilde && word.text.startsWith('~')) refuse('unknown', word.text)
  // In bash, the shell translates `$"…"`. In other shells, `$'…'` has another meaning.
  if (word.parts?.some(({ type }) => type === 'LocaleString' || (!bash && type === 'AnsiCQuoted')))
    refuse('construct', word.text)
  const parts = pieces.map((piece): Resolved => {
    if (piece.kind === 'expansion') return { known: expand(piece.part, word, context), splits: !piece.quoted }
    // A name from a brace expansion could be a link or an option.
    if (piece.kind === 'brace' || (piece.kind === 'glob' && /[$`]/.test(piece.value))) refuse('construct', word.text)
    // The shell also expands the `~` in `a=~` and `a=b:~`.
    if (piece.kind === 'text' && !piece.quoted && /[=:]~/.test(piece.value)) refuse('unknown', word.text)
    return literal(piece.value)
  })
  if (tilde)
    parts.splice(0, 1, { known: { text: view.root, host: true } }, literal((parts[0]?.known.text ?? '').slice(1)))
  const text = combine(parts)
  const glob = pieces.some(({ kind }) => kind === 'glob')
  return {
    text,
    host: firstIsHost(parts),
    tainted: parts.some(({ known }) => known.host),
    glob,
    splits: parts.some(({ splits }) => splits),
    fixed: text !== undefined && !glob && parts.every(({ known }) => known.varies !== true),
    joined: isJoined(parts, (path) => view.mounts.some(({ at }) => at === path)),
    pieces,
  }
}

function isJoined(parts: readonly Resolved[], isMount: (path: string) => boolean): boolean {
  return parts.some(({ known }, index) => {
    const next = parts[index + 1]?.known
    if (next === undefined || !known.host) return false
    if (known.text !== undefined && (known.text === '/' || !isMount(known.text))) return false
    return next.text === undefined || (known.text === undefined ? /^[\w/-]/ : /^[\w-]/).test(next.text)
  })
}

/** Returns true if the first non-empty part is a host path, as in `$HOME/x` and `""$HOME`. */
function firstIsHost(parts: readonly Resolved[]): boolean {
  const first = parts.find(({ known }) => known.text !== '')?.known
  return first?.text !== undefined && first.host
}

function combine(parts: readonly Resolved[]): string | undefined {
  let text = ''
  for (const { known } of parts) {
    // A host path in the middle of a word would differ from its text in a view.
    if (known.text === undefined || (known.host && text !== '')) return undefined
    // Here, the home directory or `$PWD` is `/`.
    text = text === '/' && known.text.startsWith('/') ? known.text : text + known.text
  }
  return text
}

/** Expands `$x` and `${x}`. Refuses other expansions: they change a value, give no word or several words, or run commands. */
function expand(part: WordPart, word: Word, context: AnalysisContext): Known {
  if (part.text === '$@') return refuse('unknown', word.text)
  if (part.type === 'SimpleExpansion') return lookUp(part.text.slice(1), context)
  if (part.type !== 'ParameterExpansion' || !/^\$\{\w+\}$/.test(part.text)) return refuse('construct', word.text)
  return lookUp(part.parameter, context)
}

/** Variables in which the shell stores words or the directory of the command. */
const tellsPlaces = /^(?:BASH.*|DIRSTACK|REPLY|_|COMP_.*|COPROC|MAPFILE|OLDPWD|PATH)$/

/** Returns a variable's value. The value of an unlisted variable is unknown, but it is never a host path: assignments are checked. */
function lookUp(name: string, { settings, place, constants }: AnalysisContext): Known {
  const { view } = settings
  if (name === 'HOME') return { text: view.root, host: true }
  if (name === 'TMPDIR' && view.mounts.some(({ at }) => at === '/tmp')) return { text: '/tmp', host: true }
  if (name === 'PWD') {
    const [only, ...others] = place.cwd
    // After `cd /`, the shell's PWD has no slash at the end of the root's host directory, so the text is unknown.
    return { text: others.length === 0 && !(place.moved && only === '/') ? only : undefined, host: true }
  }
  // `0` stands for any number: these values are never empty, so they always form a word.
  if (/^[#?$]$/.test(name)) return { text: '0', host: false, varies: true }
  if (tellsPlaces.test(name)) return anyPath
  const text = constants.get(name)
  return text === undefined ? unknown : { text, host: false }
}
