import { lookAt } from '../paths/links.ts'
import { refuse } from '../refusal.ts'
import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import { type Outcome, plain } from '../invocation/analysis-context.ts'
import { resolveDirectories } from '../invocation/path-words.ts'
import { forget, type State, type Variable, withVariable } from '../invocation/state.ts'
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

const refused: Builtin = (call) => refuse('construct', [call.name, ...call.args.map(({ word }) => word.text)].join(' '))
const code: Builtin = (call) => refuse('code', [call.name, ...call.args.map(({ word }) => word.text)].join(' '))

const leaving: Builtin = (call) => {
  for (const argument of call.args) call.text(argument)
  return call.done({ success: undefined, failure: undefined })
}

const changeDirectory: Builtin = (call) => {
  const operands = call.args.filter((argument) => !/^-[LPe@]+$|^--$/.test(textOf(argument) ?? ''))
  const [directory, ...others] = operands
  if (others.length > 0) return call.refuse('construct', others[0])
  if (directory === undefined) {
    const home = new Set([call.context.settings.view.root])
    return call.done({ success: inDirectory(call, home) })
  }
  if (textOf(directory) === '-') return refuse('unknown', 'cd -')
  call.path(directory, 'read')
  const cwd = resolveDirectories({ ...directory, mode: 'read', state: call.state, context: call.context })
  const { view } = call.context.settings
  if (
    cwd === 'any' &&
    directory.value.texts?.some((text) => view.resolve(text).kind !== 'mount' && text.startsWith('/'))
  )
    return refuse('system', directory.word.text)
  const success = inDirectory(call, cwd)
  return call.done({ success, failure: isSure(directory, call) ? undefined : call.state, prints: false })
}

function inDirectory({ state, context }: Invocation, cwd: State['cwd']): State {
  // Of the root's own directory the shell forgets the slash at the end, which tells where it ends.
  const known = cwd === 'any' || cwd.has('/') ? 'any' : cwd
  const variables = new Map(state.variables)
    .set('PWD', directoryVariable(known))
    .set('OLDPWD', directoryVariable('any'))
  return { ...state, cwd, variables, linked: state.linked || context.facts.links }
}

/** True when the directory is there, can be entered, and nothing in the line takes it away. */
function isSure(directory: Argument, call: Invocation): boolean {
  const text = textOf(directory)
  const { settings } = call.context
  if (text === undefined || settings.mayMoveFiles()) return false
  const start = call.state.cwd === 'any' ? undefined : [...call.state.cwd]
  if (!text.startsWith('/') && start?.length !== 1) return false
  const host = settings.view.hostOf(text.startsWith('/') ? text : `${start?.[0] ?? ''}/${text}`)
  const stat = host === undefined ? undefined : lookAt(host)
  return stat?.isDirectory() === true && (stat.mode & 0o111) === 0o111
}

/** `$PWD` where it is known. */
export function directoryVariable(cwd: State['cwd']): Variable {
  return cwd === 'any' ? { kind: 'opaque', tainted: true } : { kind: 'texts', texts: [...cwd], host: true }
}

const declaring: Builtin = (call) => {
  let { state } = call
  // It would list variables, whose values are those of this machine.
  if (call.args.every(({ word }) => /^[-+]/.test(word.text))) return refused(call)
  for (const argument of call.args) {
    const text = argument.word.text
    const name = /^([A-Za-z_]\w*)(?:\+?=|$)/.exec(text)?.[1]
    if (name === undefined) {
      if (/^[-+]/.test(text) && !/[nipfF]/.test(text)) continue
      return call.refuse('construct', argument)
    }
    if (!text.includes('=')) continue
    // Assignments were judged on their own: see the analysis of words.
    state = withVariable(state, name, { kind: 'opaque', tainted: true })
  }
  return call.done({ success: state, failure: state })
}

const reading: Builtin = (call) => {
  let state = call.state
  const tainted = call.context.input.tainted
  for (let index = 0; index < call.args.length; index++) {
    const argument = call.args[index]
    const text = argument === undefined ? undefined : textOf(argument)
    if (argument === undefined || text === undefined) return call.refuse('unknown', argument)
    if (/^-[rs]*[dnNptiu]$/.test(text)) {
      const value = call.args[++index]
      if (value !== undefined) call.text(value)
      if (tainted) refuse('shown', argument.word.text)
    } else if (/^-[rse]*a$/.test(text)) continue
    else if (!text.startsWith('-')) {
      if (!/^[A-Za-z_]\w*$/.test(text)) return call.refuse('construct', argument)
      refuseDangerous(text, text)
      state = withVariable(state, text, { kind: 'opaque', tainted })
    }
  }
  return { ...plain(state), hosts: call.hosts }
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
  const names = call.args.map((argument) => textOf(argument) ?? '')
  if (
    names.some((name) => !/^(?:-v|[A-Za-z_]\w*)$/.test(name)) ||
    names.some((name) => /^(?:PATH|HOME|PWD|IFS)$/.test(name))
  )
    return refused(call)
  const state = forget(
    call.state,
    names.filter((name) => name !== '-v'),
  )
  return plain(state)
}

/** Signals to what the script itself has started; a number is somebody else's process. */
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

const trapping: Builtin = (call) => {
  const [action, ...conditions] = textOf(call.args[0] ?? noArgument) === '--' ? call.args.slice(1) : call.args
  if (action === undefined || conditions.length === 0 || textOf(action) === '-p') return refused(call)
  if (textOf(action) === '-' || textOf(action) === '') return texts(call)
  // It runs at any time after this: nothing but what is never changed can be known then.
  const state: State = { ...forget(call.state), cwd: 'any' }
  const outcome = call.line(action, state, call.context)
  return { ...plain(call.state), prints: outcome.prints, hosts: outcome.hosts }
}

const executing: Builtin = (call) => {
  if (call.args.length === 0) return call.done()
  const [first] = call.args
  if ((first === undefined ? '' : (textOf(first) ?? '-')).startsWith('-')) return call.refuse('option', first)
  return { ...call.start(call.args, call.context), success: undefined, failure: call.state }
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
  ['shift', (call) => plain(forget(call.state, [...Array(10).keys()].map(String).concat('@', '*')))],
  ['return', leaving],
  ['exit', leaving],
  ['break', leaving],
  ['continue', leaving],
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
