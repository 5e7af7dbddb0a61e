import { type Argument, type Invocation, knownText } from '../invocation/invocation.ts'
import { startsOf } from '../invocation/path-words.ts'
import { lookAt } from '../paths/links.ts'
import { namesOf } from '../paths/path-view.ts'
import { type Grammar, has, type Parsed } from './grammar.ts'

const verbose = (parsed: Parsed) => has(parsed, 'v')

const copy: Grammar = {
  options:
    'a|archive d f|force H i|interactive l|link L|dereference n|no-clobber p P|no-dereference preserve~ no-preserve: R|r|recursive reflink~ remove-destination sparse: strip-trailing-slashes t|target-directory=write u update~ v|verbose x|one-file-system',
  prints: verbose,
  operands(call, parsed) {
    const asLinks = has(parsed, 'R', 'a', 'P', 'd', 'l')
    const follows = has(parsed, 'L', 'H')
    const { sources, destination } = split(call, parsed)
    for (const source of sources) {
      call.path(source, asLinks && !follows ? 'look' : 'read')
      if (asLinks) movesLinks(call, source, !follows)
    }
    // If the target directory has a link with the copy's name, the copy follows that link.
    for (const source of sources) {
      const name = source.value.glob ? undefined : source.value.text?.split('/').findLast(Boolean)
      const inside = name === undefined || /^\.\.?$/.test(name) ? destination : `${destination}/${name}`
      call.check(inside, source, 'write', { depth: has(parsed, 'R', 'a') ? 1000 : 1 })
      call.context.facts.links ||= source.value.glob
    }
  },
}

const move: Grammar = {
  options:
    'f|force i|interactive n|no-clobber strip-trailing-slashes t|target-directory=write T|no-target-directory u update~ v|verbose',
  prints: verbose,
  operands(call, parsed) {
    for (const source of split(call, parsed).sources) {
      call.path(source, 'remove')
      refuseRoot(call, source)
      movesLinks(call, source, true)
    }
  },
}

/** Checks a moved or copied tree: at the new place, its links must not lead outside. */
function movesLinks(call: Invocation, source: Argument, climbing: boolean): void {
  call.tree(source, { climbing })
  call.context.facts.links = true
}

/** Splits sources and destination. The destination's text remains a workspace path, since files can be named after it. */
function split(call: Invocation, { operands, values }: Parsed) {
  const [given] = values.get('t') ?? []
  const last = operands.at(-1)
  const destination = given?.text ?? (given === undefined ? last?.value.text : undefined)
  // A pattern can expand to several words, of which the last would be the destination.
  if (destination === undefined || (given === undefined && (operands.length < 2 || last?.value.glob === true)))
    return call.refuse('unknown', last)
  if (given === undefined && last !== undefined) call.path(last, 'write')
  return { sources: given === undefined ? operands.slice(0, -1) : operands, destination }
}

const link: Grammar = {
  options:
    'f|force i|interactive L|logical n|no-dereference P|physical s|symbolic t|target-directory=write T|no-target-directory v|verbose',
  prints: verbose,
  operands(call, parsed) {
    const { operands } = parsed
    const alone = operands.length < 2 || parsed.values.has('t')
    const place = alone ? undefined : operands.at(-1)
    if (operands.some(({ value }) => value.glob)) call.refuse('unknown')
    if (place !== undefined) call.path(place, 'remove')
    const given = parsed.values.get('t')?.[0]
    const at = place?.value.text ?? (given === undefined ? '.' : given.text)
    for (const target of alone ? operands : operands.slice(0, -1)) {
      if (has(parsed, 's')) {
        checkLinkText(call, target, at)
        // The last name can be the link itself, or the directory of the link. The link's text must be valid for both.
        if (place !== undefined) checkLinkText(call, target, at?.replace(/[^/]*\/*$/, '.'))
      } else {
        call.path(target, 'read')
        movesLinks(call, target, true)
      }
    }
    call.context.facts.links = true
  },
}

/** Checks a link's text. It must mean the same in a view, lead inside, and pass no link that leads outside. */
function checkLinkText(call: Invocation, target: Argument, directory: string | undefined): void {
  const text = knownText(target)
  if (text === undefined || directory === undefined) return call.refuse('unknown', target)
  if (text.startsWith('/')) return call.refuse('stored', target, 'make a relative link')
  call.check(`${directory}/${text}`, target, 'read')
}

/** Refuses to remove a mount's root. In a view this fails, but here the root is an ordinary directory. */
export function refuseRoot(call: Invocation, argument: Argument): void {
  for (const start of startsOf(argument.value.text ?? '', call)) {
    const place = call.context.settings.view.resolve(start)
    if (place.kind === 'mount' && namesOf(place.inside).length === 0) call.refuse('mount', argument)
  }
}

const list: Grammar = {
  // Options for columns are missing, because the width of a host path differs.
  options:
    '1 a|all A|almost-all b|escape B|ignore-backups block-size: c classify~ color~ d|directory f F file-type full-time g G|no-group group-directories-first h|human-readable H|dereference-command-line hide: i|inode I|ignore: k|kibibytes l L|dereference n|numeric-uid-gid N|literal o p q|hide-control-chars Q|quote-name r|reverse R|recursive s|size S si sort: t time: time-style: u U v X',
  operands(call, parsed) {
    // User names would be names of this machine.
    if (has(parsed, 'l', 'o', 'g', 'full-time') && !has(parsed, 'n')) call.refuse('option', undefined, 'use `ls -n`')
    for (const operand of parsed.operands) call.path(operand, 'read')
  },
  recursive: ['R'],
  follows: ['L'],
  prints: (parsed, call) => has(parsed, 'd', 'R') || !isOneDirectory(parsed, call),
}

/** Returns whether `ls` lists exactly one directory. Its output then omits the name of the directory. */
function isOneDirectory({ operands: [only, ...others] }: Parsed, call: Invocation): boolean {
  const text = others.length > 0 ? undefined : knownText(only)
  const host = text?.startsWith('/') ? call.context.settings.view.hostOf(text) : undefined
  return host !== undefined && lookAt(host)?.isDirectory() === true
}

export const filePrograms: Readonly<Record<string, Grammar>> = {
  cp: copy,
  mv: move,
  ln: link,
  ls: list,
  rm: {
    options: 'd|dir f|force i I interactive~ one-file-system r|R|recursive v|verbose',
    recursive: ['r'],
    prints: verbose,
    operands(call, { operands }) {
      for (const operand of operands) {
        call.path(operand, 'remove')
        refuseRoot(call, operand)
      }
    },
  },
  mkdir: { options: 'm|mode: p|parents v|verbose', operands: 'write', prints: verbose },
  touch: {
    options: 'a c|no-create d|date: f h|no-dereference m r|reference=read t: time:',
    operands: 'write',
    prints: 'never',
  },
  tee: {
    options: 'a|append i|ignore-interrupts p output-error~',
    prints: 'never',
    passes: true,
    operands(call, { operands }) {
      for (const operand of operands) call.path(operand, 'write')
      if (call.context.tainted && operands.length > 0) call.refuse('stored', operands[0])
    },
  },
}
