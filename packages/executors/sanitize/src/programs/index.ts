import type { Argument, Invocation } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { isInstalled } from '../installed.ts'
import { builtins, refusedBuiltins } from './builtins.ts'
import { filePrograms } from './files.ts'
import { type Grammar, runGrammar } from './grammar.ts'
import { find, grep } from './search.ts'
import { sed } from './sed.ts'
import { textPrograms } from './text.ts'
import { runFile, runTrusted, runUnknown } from './trusted.ts'

const grammars: ReadonlyMap<string, Grammar> = new Map(Object.entries({ ...filePrograms, ...textPrograms, sed, grep }))
const programDirectories = /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/

export function runProgram(call: Invocation, program: Argument): Outcome {
  const { name, context } = call
  const known = programDirectories.exec(name)?.[1]
  if (known === undefined && name.includes('/')) return runFile(call, program)
  if (known !== undefined) {
    call.name = known
    if (!isInstalled(known)) return runUnknown(call)
  } else if (refusedBuiltins.has(name)) return call.refuse('construct')
  const builtin = known === undefined ? builtins.get(name) : undefined
  if (builtin !== undefined) return builtin(call)
  if (call.name === 'find') return find(call)
  const grammar = grammars.get(call.name)
  if (grammar !== undefined) return runGrammar(call, grammar)
  const { trust } = context.settings
  return trust === 'all' || trust.has(call.name) ? runTrusted(call) : runUnknown(call)
}

export const judgedPrograms: readonly string[] = ['find', ...grammars.keys(), ...builtins.keys()].sort()
