import { builtins } from './builtins.ts'
import type { Argument, Invocation } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
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

/** Judges a call: a builtin, a program of the system, or one of the workspace. */
export function runProgram(call: Invocation, program: Argument): Outcome {
  const { name, context } = call
  if (name.includes('/')) {
    const known = programDirectories.exec(name)?.[1]
    if (known === undefined) return runFile(call, program)
    const inner = call.named(known)
    if (!context.settings.isInstalled(known)) return runUnknown(inner)
    return runSystemProgram(inner)
  }
  const builtin = builtins.get(name)
  if (builtin !== undefined) return builtin(call)
  return runSystemProgram(call)
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
