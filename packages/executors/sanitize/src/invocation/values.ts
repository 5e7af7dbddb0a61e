import { type Piece, piecesOf, type Word, type WordPart } from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { AnalysisContext } from './analysis-context.ts'

interface Known {
  /** The text in a view; `undefined` when only the shell knows it. */
  readonly text: string | undefined
  /** Its value is, or may hold, a host path. */
  readonly host: boolean
  /** Its text is one of many: digits. */
  readonly varies?: true
}

/** The known value of a word before the shell runs. */
export interface Value {
  /** The text in a view, patterns as written; `undefined` if unknown. */
  readonly text: string | undefined
  /** It begins with a host path: `$PWD`, `~`. */
  readonly host: boolean
  /** It holds a host path somewhere. */
  readonly tainted: boolean
  /** It has an unquoted pattern. */
  readonly glob: boolean
  /** An unquoted expansion, which the shell splits. */
  readonly splits: boolean
  /** The text can replace the whole word without changing its meaning. */
  readonly fixed: boolean
  /** Text directly follows a host path that may be a mount's own directory, so its end is unknown. */
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

/** @throws Refusal for expansions other than that of a variable */
export function evaluate(word: Word, context: AnalysisContext): Value {
  const { view, bash } = context.settings
  const pieces = piecesOf(word)
  const tilde = /^~(?=\/|$)/.test(word.text)
  if (!tilde && word.text.startsWith('~')) refuse('unknown', word.text)
  // `$"…"` is translated; `$'…'` is another text outside of bash.
  if (word.parts?.some(({ type }) => type === 'LocaleString' || (!bash && type === 'AnsiCQuoted')))
    refuse('construct', word.text)
  const parts = pieces.map((piece): Resolved => {
    if (piece.kind === 'expansion') return { known: expand(piece.part, word, context), splits: !piece.quoted }
    // A name of a brace could be a link, or an option.
    if (piece.kind === 'brace' || (piece.kind === 'glob' && /[$`]/.test(piece.value))) refuse('construct', word.text)
    // `a=~` and `a=b:~` become the home directory as well.
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

/** `$HOME/x` begins with a host path; so does `""$HOME`. */
function firstIsHost(parts: readonly Resolved[]): boolean {
  const first = parts.find(({ known }) => known.text !== '')?.known
  return first?.text !== undefined && first.host
}

function combine(parts: readonly Resolved[]): string | undefined {
  let text = ''
  for (const { known } of parts) {
    // A host path inside a word differs from its text in a view.
    if (known.text === undefined || (known.host && text !== '')) return undefined
    // The home directory or `$PWD` is the root.
    text = text === '/' && known.text.startsWith('/') ? known.text : text + known.text
  }
  return text
}

/** `$x` and `${x}`: other expansions change a value, give several words or none, or run commands. */
function expand(part: WordPart, word: Word, context: AnalysisContext): Known {
  if (part.text === '$@') return refuse('unknown', word.text)
  if (part.type === 'SimpleExpansion') return lookUp(part.text.slice(1), context)
  if (part.type !== 'ParameterExpansion' || !/^\$\{\w+\}$/.test(part.text)) return refuse('construct', word.text)
  return lookUp(part.parameter, context)
}

/** The shell puts words of the command, or its place, into these. */
const tellsPlaces = /^(?:BASH.*|DIRSTACK|REPLY|_|COMP_.*|COPROC|MAPFILE|OLDPWD|PATH)$/

/** Only the running shell knows other variables. No assignment puts a host path into one. */
function lookUp(name: string, { settings, place, constants }: AnalysisContext): Known {
  const { view } = settings
  if (name === 'HOME') return { text: view.root, host: true }
  if (name === 'TMPDIR' && view.mounts.some(({ at }) => at === '/tmp')) return { text: '/tmp', host: true }
  if (name === 'PWD') {
    const [only, ...others] = place.cwd
    // After `cd /`, PWD lacks the slash at the end of the root's directory, so that end is unknown.
    return { text: others.length === 0 && !(place.moved && only === '/') ? only : undefined, host: true }
  }
  // Non-empty in each shell: an empty one would make the next word the value of an option.
  if (/^[#?$]$/.test(name)) return { text: '0', host: false, varies: true }
  if (tellsPlaces.test(name)) return anyPath
  const text = constants.get(name)
  return text === undefined ? unknown : { text, host: false }
}
