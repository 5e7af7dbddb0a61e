import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import type { Known } from '../invocation/values.ts'
import { namesOf } from '../paths/path-view.ts'
import { refuse } from '../refusal.ts'
import { type Grammar, has, type Parsed } from './grammar.ts'

/** `grep` and its relatives: patterns stay as they are. */
export const grep: Grammar = {
  options:
    '-e: --regexp: -f=read --file=read -A: -B: -C: -m: --after-context: --before-context: --context: --max-count: --include: --exclude: --exclude-dir: --exclude-from=read --label: -d: -D: --directories: --devices: --color~ --colour~ --binary-files:',
  follows: ['-R', '--dereference-recursive'],
  recursive: ['-r', '--recursive'],
  operands(call, parsed) {
    const [pattern, ...rest] = parsed.operands
    const files = isNamed(parsed) ? parsed.operands : rest
    if (!isNamed(parsed) && pattern !== undefined) call.text(pattern)
    for (const file of files) call.path(file, 'read')
    const recursive = has(parsed, '-r', '-R', '--recursive', '--dereference-recursive')
    if (recursive) for (const file of files) call.tree(file, { links: has(parsed, '-R', '--dereference-recursive') })
    const lists = has(parsed, '-l', '-L', '--files-with-matches', '--files-without-match')
    const shows = !has(parsed, '-h', '--no-filename', '-q', '--quiet', '--silent') || lists
    const prints =
      call.hosts &&
      shows &&
      (files.length > 1 ||
        files.some(({ value }) => value.glob) ||
        recursive ||
        lists ||
        has(parsed, '-H', '--with-filename'))
    return { prints }
  },
}

/** The pattern is not an operand. */
function isNamed(parsed: Parsed): boolean {
  return has(parsed, '-e', '--regexp', '-f', '--file')
}

/** The value of a name that `find` has found below its operands. */
function foundBelow(call: Invocation): Known {
  const { root } = call.context.settings.view
  return call.hosts ? { text: `${root === '/' ? '' : root}/x`, host: true } : { text: 'x', host: false }
}

const takesText = new Set(
  '-name -iname -lname -ilname -type -xtype -maxdepth -mindepth -size -mtime -atime -ctime -mmin -amin -cmin -perm -uid -gid -links -inum -fstype -used -context -regextype'.split(
    ' ',
  ),
)
const takesPath = new Set(['-newer', '-anewer', '-cnewer', '-samefile'])
const plainTests = new Set(
  '( ) ! , -a -o -and -or -not -true -false -empty -print -print0 -prune -quit -depth -d -mount -xdev -daystart -follow -readable -writable -executable -delete -noleaf -ignore_readdir_race -noignore_readdir_race -warn -nowarn'.split(
    ' ',
  ),
)
const wholePath = new Set(['-path', '-ipath', '-wholename', '-iwholename', '-regex', '-iregex'])
const writers = new Set(['-fprint', '-fprint0'])
const starters = new Set(['-exec', '-execdir', '-ok', '-okdir'])

/** `find`: start points are paths, patterns stay as they are, and commands that `-exec` starts are judged as well. */
export function find(call: Invocation): Outcome {
  const { args } = call
  let index = 0
  let follows = false
  for (; /^-[HLP]$/.test(text(args[index])); index++) follows ||= text(args[index]) !== '-P'
  const starts: Argument[] = []
  for (; index < args.length; index++) {
    const argument = args[index]
    if (argument === undefined || /^[-(!,]/.test(text(argument))) break
    call.path(argument, follows ? 'read' : 'look')
    starts.push(argument)
  }
  const expression = args.slice(index)
  const judged = judgeExpression(call, starts, expression)
  // A program that is started for each name follows the links among them.
  const links = follows || judged.starts || expression.some((argument) => text(argument) === '-follow')
  for (const start of starts) call.tree(start, { links })
  if (starts.length === 0) call.treeHere({ links })
  return call.done({ prints: call.hosts || judged.prints })
}

function judgeExpression(call: Invocation, starts: readonly Argument[], expression: readonly Argument[]) {
  const result = { starts: false, prints: false }
  for (let index = 0; index < expression.length; index++) {
    const argument = expression[index]
    if (argument === undefined) break
    const word = text(argument)
    const next = expression[index + 1]
    if (takesText.has(word)) {
      if (next !== undefined) call.text(next)
      if (/^-i?name$/.test(word) && starts.some((start) => namesMount(call, start, text(next))))
        refuse('shown', next?.word.text ?? word)
      index++
    } else if (takesPath.has(word) || /^-newer[aBcmt]{2}$/.test(word)) {
      if (next !== undefined && !word.endsWith('t')) call.path(next, 'read')
      index++
    } else if (wholePath.has(word)) {
      if (next === undefined) break
      call.text(next)
      // Names begin with the start point, which is a path of this machine when it was absolute.
      if (call.hosts && !meansTheSame(call, word, text(next))) refuse('shown', next.word.text)
      index++
    } else if (word === '-printf') {
      if (next !== undefined) call.text(next)
      const format = next === undefined ? undefined : textOf(next)
      if (format === undefined) refuse('unknown', argument.word.text)
      if (/%[-#0-9.+ ]*[ug]/.test(format)) refuse('option', next?.word.text ?? '')
      if (/%[-#0-9.+ ]*[fh]/.test(format) && starts.some((start) => namesMount(call, start, '')))
        refuse('shown', next?.word.text ?? '')
      index++
    } else if (writers.has(word)) {
      if (next !== undefined) call.path(next, 'write')
      if (call.hosts) refuse('stored', argument.word.text)
      index++
    } else if (starters.has(word)) {
      const length = expression.slice(index + 1).findIndex((other) => text(other) === ';' || text(other) === '+')
      if (length < 0) refuse('syntax', argument.word.text)
      const started = expression.slice(index + 1, index + 1 + length)
      if (word.endsWith('dir')) refuse('construct', argument.word.text)
      const context = { ...call.context, placeholder: { word: '{}', known: foundBelow(call) } }
      const outcome = call.start(started, context)
      if (outcome.hosts) call.hosts = true
      result.prints ||= outcome.prints
      result.starts = true
      index += length + 1
    } else if (!plainTests.has(word)) refuse('option', argument.word.text)
  }
  return result
}

/** True if a pattern can match the name of a mount's directory, which has another name on this machine. */
function namesMount({ context }: Invocation, { value }: Argument, pattern: string): boolean {
  const { view } = context.settings
  const [first = '', ...rest] = pattern.toLowerCase().split(/[*?[\\]/)
  const last = rest.at(-1)?.replace(/^.*\]/, '') ?? first
  const matches = (path: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
    return name.startsWith(first) && name.endsWith(last)
  }
  const path = value.text ?? ''
  const place = view.resolve(path)
  if (!path.startsWith('/') || place.kind !== 'mount' || namesOf(place.inside).length > 0) return false
  return pattern !== '*' && (matches(place.mount.host) || matches(place.mount.at))
}

/** A pattern such as `*` + `/name/*` finds the same in longer paths, unless these have that name in front. */
function meansTheSame({ context }: Invocation, test: string, pattern: string): boolean {
  const name = /^\*\/([^/*?[\\]+)(?:\/\*)?$/.exec(pattern)?.[1]
  if (name === undefined || test.endsWith('regex')) return false
  return context.settings.view.mounts.every(({ host }) => !host.toLowerCase().split('/').includes(name.toLowerCase()))
}

function text(argument: Argument | undefined): string {
  return argument === undefined ? '' : (textOf(argument) ?? '')
}
