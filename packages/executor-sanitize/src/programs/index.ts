import { builtins } from './builtins.ts'
import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { forget } from '../invocation/state.ts'
import { refuse } from '../refusal.ts'
import { tar } from './archive.ts'
import { awk } from './awk.ts'
import { filePrograms } from './files.ts'
import { type Grammar, runGrammar } from './grammar.ts'
import { find, grep } from './search.ts'
import { sed } from './sed.ts'
import { isStarter, runStarter } from './starters.ts'
import { textPrograms } from './text.ts'
import { runFile, runTrusted, runUnknown } from './trusted.ts'

const special: Readonly<Record<string, (call: Invocation) => Outcome>> = { find, tar }
const grammars: Readonly<Record<string, Grammar>> = {
  ...filePrograms,
  ...textPrograms,
  sed,
  awk,
  mawk: awk,
  gawk: awk,
  nawk: awk,
  grep,
  egrep: grep,
  fgrep: grep,
  zgrep: grep,
}
const programDirectories = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/

/** Judges a call: a function of the script, a builtin, a program of the system, or one of the workspace. */
export function runProgram(call: Invocation, program: Argument): Outcome {
  const { name, context } = call
  if (context.functions.has(name)) return callFunction(call)
  if (name.includes('/')) {
    const known = programDirectories.exec(name)?.[1]
    if (known === undefined) return runFile(call, program)
    const inner = call.named(known)
    if (!context.settings.isInstalled(known)) return runUnknown(inner)
    return runSystemProgram(inner)
  }
  const builtin = builtins.get(name)
  if (builtin !== undefined) return builtin(call)
  return withNumber(call, runSystemProgram(call))
}

function runSystemProgram(call: Invocation): Outcome {
  const { name } = call
  if (isStarter(name)) return runStarter(call)
  if (Object.hasOwn(special, name)) return special[name]?.(call) ?? call.done()
  const grammar = Object.hasOwn(grammars, name) ? grammars[name] : undefined
  if (grammar !== undefined) return runGrammar(call, grammar)
  if (call.trusted) return runTrusted(call)
  return runUnknown(call)
}

/** The body of a function was judged at its definition; its use of arguments is not known. */
function callFunction(call: Invocation): Outcome {
  if (call.context.input.tainted) return call.refuse('shown')
  for (const argument of call.args) {
    call.text(argument)
    if (argument.value.texts?.some((text) => text.startsWith('/')) !== false) refuse('unknown', argument.word.text)
  }
  const { functions } = call.context
  const state = { ...forget(call.state), cwd: 'any' } as const
  return {
    success: state,
    failure: state,
    prints: functions.has(`prints:${call.name}`),
    hosts: functions.has(`hosts:${call.name}`),
  }
}

/** Programs whose output is a number, so that a path can be made of it. */
function withNumber(call: Invocation, outcome: Outcome): Outcome {
  const words = call.args.map((argument) => textOf(argument))
  const counting = call.name === 'wc' && words.length === 1 && /^-[lcwm]$/.test(words[0] ?? '')
  const stamp = call.name === 'date' && words.length === 1 && /^\+(?:%[YmdHMSsjNF]|[-_:])+$/.test(words[0] ?? '')
  const other =
    (call.name === 'nproc' && words.length === 0) ||
    (call.name === 'seq' && words.every((word) => /^\d+$/.test(word ?? '')))
  return counting || stamp || other ? { ...outcome, number: true } : outcome
}
