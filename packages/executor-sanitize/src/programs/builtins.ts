import { refuse } from '../refusal.ts'
import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { resolveDirectories } from '../invocation/path-words.ts'
import { refuseDangerous } from './starters.ts'
import { test } from './test.ts'

type Builtin = (call: Invocation) => Outcome

/** Arguments that are shown or counted as they are. */
const texts: Builtin = (call) => {
  for (const argument of call.args) call.text(argument)
  return call.done()
}

/** Printed text comes back with its paths put right. */
const printing: Builtin = (call) => {
  const [format] = call.args
  if (call.name === 'printf' && textOf(format ?? noArgument) === '-v') return call.refuse('construct', format)
  for (const argument of call.args) call.text(argument, { tainted: true })
  // A path that is cut, padded, or followed by a letter, could not be taken out again.
  const whole = /^(?:[^%\\\w-]|%%|\\n|[\w-](?!%)|%s(?![\w%-]))*$/.test(textOf(format ?? noArgument) ?? '%c')
  if (call.name === 'printf' && call.tainted && !whole) refuse('shown', format?.word.text ?? '')
  return call.done()
}
const noArgument = {
  word: { type: 'Word', text: '', value: '', pos: 0, end: 0 },
  value: { fixed: false },
} as unknown as Argument

const refused: Builtin = (call) => refuse('construct', call.written)
const code: Builtin = (call) => refuse('code', call.written)

const changeDirectory: Builtin = (call) => {
  const { settings, place } = call.context
  const [directory, ...others] = call.args.filter((argument) => !/^-[LPe@]+$|^--$/.test(textOf(argument) ?? ''))
  if (others.length > 0) return call.refuse('construct', others[0])
  if (directory === undefined) place.cwd = new Set([settings.view.root])
  else {
    if (textOf(directory) === '-') return refuse('unknown', 'cd -')
    call.path(directory, 'read')
    place.cwd = resolveDirectories({ ...directory, mode: 'read', context: call.context })
  }
  place.moved = true
  return call.done({ prints: false })
}

/** Assignments among the words are judged on their own. */
const declaring: Builtin = (call) => {
  // It would list variables, whose values are those of this machine.
  if (call.args.every(({ word }) => /^[-+]/.test(word.text))) return refused(call)
  for (const argument of call.args) {
    const { text } = argument.word
    if (!/^[A-Za-z_]\w*(?:\+?=|$)/.test(text) && (!text.startsWith('-') || /[nipfF]/.test(text)))
      return call.refuse('construct', argument)
  }
  return call.done()
}

const reading: Builtin = (call) => {
  for (let index = 0; index < call.args.length; index++) {
    const argument = call.args[index]
    const text = argument === undefined ? undefined : textOf(argument)
    if (argument === undefined || text === undefined) return call.refuse('unknown', argument)
    if (/^-[rs]*[dnNptiu]$/.test(text)) {
      const value = call.args[++index]
      if (value !== undefined) call.text(value)
    } else if (/^-[rse]*a$/.test(text)) continue
    else if (!text.startsWith('-')) {
      if (!/^[A-Za-z_]\w*$/.test(text)) return call.refuse('construct', argument)
      refuseDangerous(text, text)
    }
  }
  if (call.context.tainted) refuse('held', call.written)
  return call.done()
}

const setting: Builtin = (call) => {
  const words = call.args.map(textOf)
  for (const argument of call.args) call.text(argument)
  const options = words.every(
    (word, index) =>
      word !== undefined &&
      (/^[-+][aefuCbhmn]+$|^[-+][eu]*o$/.test(word) ||
        (/^[-+][eu]*o$/.test(words[index - 1] ?? '') && /^(?:errexit|nounset|pipefail|noglob|noclobber)$/.test(word))),
  )
  // Without options it lists variables; a trace shows commands with paths of this machine.
  return options && words.length > 0 ? call.done() : refused(call)
}

const harmlessOptions = new Set([
  '-s',
  '-u',
  '-q',
  'dotglob',
  'nullglob',
  'globstar',
  'extglob',
  'failglob',
  'nocaseglob',
  'nocasematch',
  'inherit_errexit',
])
const shellOptions: Builtin = (call) =>
  call.args.every((argument) => harmlessOptions.has(textOf(argument) ?? '')) ? call.done() : refused(call)

const unsetting: Builtin = (call) => {
  for (const argument of call.args) {
    const name = textOf(argument) ?? ''
    if (!/^(?:-v|[A-Za-z_]\w*)$/.test(name)) return refused(call)
    refuseDangerous(name, argument.word.text)
  }
  return call.done()
}

/** Allows signals to jobs of the script itself. A process number may belong to another program. */
const signalling: Builtin = (call) => {
  for (const argument of call.args) {
    const own = /^(?:-\w+|--|%\w*|0)$/.test(textOf(argument) ?? '') && !/^-\d{3,}|^-1$/.test(textOf(argument) ?? '')
    const variable =
      argument.value.pieces.some(({ kind }) => kind === 'expansion') && !/^-|^\d/.test(argument.word.text)
    if (!own && !variable) return call.refuse('construct', argument)
    call.text(argument)
  }
  return call.done()
}

/** An action runs at any time, anywhere: so it can do nothing, or end the shell. */
const trapping: Builtin = (call) => {
  const [action, ...conditions] = textOf(call.args[0] ?? noArgument) === '--' ? call.args.slice(1) : call.args
  const text = textOf(action ?? noArgument)
  return conditions.length > 0 && /^(?:-?|:|exit(?: \d+)?)$/.test(text ?? '?') ? texts(call) : refused(call)
}

const executing: Builtin = (call) => {
  if (call.args.length === 0) return call.done()
  const [first] = call.args
  if ((first === undefined ? '' : (textOf(first) ?? '-')).startsWith('-')) return call.refuse('option', first)
  return call.start(call.args, call.context)
}

const here: Builtin = (call) => {
  for (const argument of call.args)
    if (!/^-[LP]$/.test(textOf(argument) ?? '')) return call.refuse('construct', argument)
  return call.done({ prints: true })
}

export const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['echo', printing],
  ['printf', printing],
  ['true', texts],
  ['false', texts],
  [':', texts],
  ['test', test],
  ['[', test],
  ['shift', texts],
  ['return', texts],
  ['exit', texts],
  ['break', texts],
  ['continue', texts],
  ['wait', texts],
  ['umask', texts],
  ['ulimit', texts],
  ['times', texts],
  ['bg', texts],
  ['disown', texts],
  ['cd', changeDirectory],
  ['pwd', here],
  ['read', reading],
  ['export', declaring],
  ['declare', declaring],
  ['typeset', declaring],
  ['local', declaring],
  ['readonly', declaring],
  ['unset', unsetting],
  ['set', setting],
  ['shopt', shellOptions],
  ['kill', signalling],
  ['trap', trapping],
  ['exec', executing],
  ['eval', code],
  ['source', code],
  ['.', code],
  ...'alias fg jobs type let unalias enable bind pushd popd dirs hash compgen complete compopt history fc mapfile readarray getopts caller coproc select logout suspend help'
    .split(' ')
    .map((name): [string, Builtin] => [name, refused]),
])
