import { type Argument, here, type Invocation, knownText } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { namesOf } from '../paths/path-view.ts'
import { refuseRoot } from './files.ts'
import { type Grammar, has } from './grammar.ts'

export const grep: Grammar = {
  options:
    '# a|text A|after-context: b|byte-offset B|before-context: binary-files: c|count C|context: color~ colour~ e|regexp: E|extended-regexp exclude: exclude-dir: exclude-from=read f|file=read F|fixed-strings G|basic-regexp H|with-filename h|no-filename i|ignore-case I include: l|files-with-matches L|files-without-match label: line-buffered m|max-count: n|line-number no-ignore-case o|only-matching P|perl-regexp q|quiet|silent r|recursive R|dereference-recursive s|no-messages v|invert-match w|word-regexp x|line-regexp y z|null-data Z|null',
  operands(call, parsed) {
    const isNamed = has(parsed, 'e', 'f')
    const [pattern, ...others] = parsed.operands
    const files = isNamed ? parsed.operands : others
    if (!isNamed && pattern !== undefined) call.text(pattern)
    for (const file of files) call.path(file, 'read')
    const recursive = has(parsed, 'r', 'R')
    if (recursive) for (const file of files.length === 0 ? [here] : files) call.tree(file, { links: has(parsed, 'R') })
    const lists = has(parsed, 'l', 'L')
    const several = files.length > 1 || files.some(({ value }) => value.glob) || recursive || has(parsed, 'H')
    return { prints: call.hosts && (lists || (several && !has(parsed, 'h', 'q'))) }
  },
}

const takesText = new Set(
  '-name -iname -lname -ilname -type -xtype -maxdepth -mindepth -size -mtime -atime -ctime -mmin -amin -cmin -newermt -perm -uid -gid -links -inum -used -regextype'.split(
    ' ',
  ),
)
const takesPath = new Set(['-newer', '-anewer', '-cnewer', '-samefile'])
const plainTests = new Set(
  '( ) ! , -a -o -and -or -not -true -false -empty -print -print0 -prune -quit -depth -d -mount -xdev -daystart -follow -readable -writable -executable -delete -noleaf'.split(
    ' ',
  ),
)
const wholePath = new Set(['-path', '-ipath', '-wholename', '-iwholename', '-regex', '-iregex'])

/** Checks `find`. Its start points are paths. The accepted forms start no command, and write only to the output. */
export function find(call: Invocation): Outcome {
  const { args, context } = call
  if (context.tainted) call.refuse('shown')
  const words = args.map((argument) => knownText(argument) ?? '')
  const first = words.findIndex((word) => !/^-[HLP]$/.test(word))
  const begin = first < 0 ? args.length : first
  const past = words.findIndex((word, index) => index >= begin && /^[-(!,)]/.test(word))
  const starts = args.slice(begin, past < 0 ? undefined : past)
  const links = words.slice(0, begin).some((word) => word !== '-P') || words.includes('-follow')
  for (const start of starts) {
    call.path(start, links ? 'read' : 'look')
    // Excludes `.`, which `find -delete` does not remove.
    if (words.includes('-delete') && start.value.text?.startsWith('/')) refuseRoot(call, start)
  }
  for (let index = past < 0 ? args.length : past; index < args.length; index++) {
    const argument = args[index]
    const next = args[index + 1]
    const word = words[index] ?? ''
    if (plainTests.has(word)) continue
    const isText = takesText.has(word) || wholePath.has(word)
    if (!isText && !takesPath.has(word)) return call.refuse('option', argument)
    if (next === undefined) break
    if (!isText) call.path(next, 'read')
    else call.text(next)
    const pattern = words[index + 1] ?? ''
    // The paths that `find` compares begin with the start point. An absolute start point becomes a host path, so the match differs.
    const shows = wholePath.has(word) ? call.hosts : /^-i?name$/.test(word) && namesMount(call, starts, pattern)
    if (shows) call.refuse('shown', next)
    index++
  }
  for (const start of starts.length === 0 ? [here] : starts) call.tree(start, { links })
  return call.done({ prints: call.hosts })
}

/** Returns whether a pattern can match the name of a mount's directory, which differs on the host. */
function namesMount({ context }: Invocation, starts: readonly Argument[], pattern: string): boolean {
  const { view } = context.settings
  const [first = '', ...rest] = pattern.toLowerCase().split(/[*?[\\]/)
  const last = rest.at(-1)?.replace(/^.*\]/, '') ?? first
  const matches = (path: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
    return name.startsWith(first) && name.endsWith(last)
  }
  return starts.some(({ value: { text = '' } }) => {
    const place = view.resolve(text)
    if (!text.startsWith('/') || place.kind !== 'mount' || namesOf(place.inside).length > 0) return false
    return pattern !== '*' && (matches(place.mount.host) || matches(place.mount.at))
  })
}
