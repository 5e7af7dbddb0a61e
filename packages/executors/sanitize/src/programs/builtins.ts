import { type Argument, type Invocation, knownText } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { resolveDirectories } from '../invocation/path-words.ts'
import { test } from './test.ts'

type Builtin = (call: Invocation) => Outcome

const silentBuiltin: Builtin = (call) => {
  for (const argument of call.args) call.text(argument)
  return call.done()
}

function canBeOption(argument: Argument | undefined): boolean {
  if (argument === undefined || argument.value.host) return false
  const [first] = argument.value.pieces
  return first?.kind !== 'text' || (knownText(argument) ?? (first.value || '-')).startsWith('-')
}

/** Checks `echo`. In its output, a host path is replaced only if it ends at the end of a word or line. */
const echo: Builtin = (call) => {
  for (const argument of call.args) call.shown(argument)
  const changes = canBeOption(call.args[0]) || call.args.some(({ word }) => word.text.includes('\\'))
  if (call.tainted && changes) call.refuse('shown')
  return call.done()
}

const printf: Builtin = (call) => {
  const [format, ...values] = call.args
  // `printf -v` sets a variable.
  if (format !== undefined && canBeOption(format)) return call.refuse('construct', format)
  if (format !== undefined) call.text(format)
  for (const value of values) call.shown(value)
  if (call.tainted && knownText(format) !== String.raw`%s\n`) call.refuse('shown', format)
  return call.done()
}

const changeDirectory: Builtin = (call) => {
  const { settings, place } = call.context
  const [directory, ...others] = call.args.filter((argument) => !/^-[LPe@]+$|^--$/.test(knownText(argument) ?? ''))
  if (others.length > 0) return call.refuse('construct', others[0])
  if (directory === undefined) place.cwd = new Set([settings.view.root])
  else {
    if (knownText(directory) === '-') call.refuse('unknown')
    call.path(directory, 'read')
    place.cwd = resolveDirectories({ ...directory, mode: 'read', context: call.context })
  }
  place.moved = true
  return call.done({ prints: false })
}

const printDirectory: Builtin = (call) => {
  for (const argument of call.args) if (!/^-[LP]$/.test(knownText(argument) ?? '')) call.refuse('construct', argument)
  return call.done({ prints: true })
}

const lookUpCommand: Builtin = (call) => {
  const [option, name, ...others] = call.args.map(knownText)
  if (option !== '-v' || others.length > 0 || !/^[\w.+-]+$/.test(name ?? '')) call.refuse('construct')
  return call.done({ prints: true })
}

export const builtins: ReadonlyMap<string, Builtin> = new Map([
  ['true', silentBuiltin],
  ['false', silentBuiltin],
  [':', silentBuiltin],
  ['exit', silentBuiltin],
  ['echo', echo],
  ['printf', printf],
  ['test', test],
  ['[', test],
  ['cd', changeDirectory],
  ['pwd', printDirectory],
  ['command', lookUpCommand],
])

/** Builtins that the caller can trust like programs. */
export const trustedBuiltins: ReadonlySet<string> = new Set(['kill', 'ulimit', 'umask', 'wait'])

/** Builtins that change how the shell parses or runs later commands. */
export const refusedBuiltins: ReadonlySet<string> = new Set(
  '. alias bg bind break builtin caller compgen complete compopt continue coproc declare dirs disown enable eval exec export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return select set shift shopt source suspend times trap type typeset unalias unset'.split(
    ' ',
  ),
)
