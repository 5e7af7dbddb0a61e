import { type SyntaxNode, visit, type Word, type WordPart } from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import { directoryVariable } from '../programs/builtins.ts'
import type { AnalysisContext } from '../invocation/analysis-context.ts'
import { Edits } from '../invocation/edits.ts'
import { isArithmetic, type State, type Variable } from '../invocation/state.ts'
import { evaluate, type Value } from '../invocation/values.ts'

type Substitution = Extract<WordPart, { type: 'CommandExpansion' }>

/** How deep lines may lie in one another. */
export const deepest = 12
const noInput = { tainted: false } as const

/** The values that a word can take. */
export function valueOf(analyst: Analyst, word: Word, state: State): Value {
  const { settings, placeholder } = analyst.context
  return evaluate(word, {
    state,
    home: settings.view.root,
    isMount: (path) => settings.view.mounts.some(({ at }) => at === path),
    isBelowMount: (path) => settings.view.isBelowMount(path),
    bash: settings.bash,
    placeholder,
    substitute: (part) => substitute(analyst, part, state),
    compute: (part) => analyst.inside(part, state),
    refuse,
  })
}

/** Expansions that may put paths of this machine into a text. */
export function holdsHosts(analyst: Analyst, parts: readonly WordPart[] | undefined, state: State): boolean {
  return (parts ?? []).some((part) => {
    const word: Word = { type: 'Word', text: ' ', value: ' ', pos: 0, end: 0, parts: [part] }
    return analyst.value(word, state).tainted
  })
}

function substitute(analyst: Analyst, { script, text }: Pick<Substitution, 'script' | 'text'>, state: State): Variable {
  if (script === undefined) return refuse('syntax', text)
  // Backticks with backslashes have a text of their own, whose positions are not those of the line.
  const edits = script.source === undefined ? analyst.context.edits : new Edits()
  const context: AnalysisContext = {
    ...analyst.context,
    edits,
    source: script.source ?? analyst.context.source,
    input: noInput,
    depth: analyst.context.depth + 1,
  }
  if (context.depth > deepest) return refuse('syntax', text)
  const outcome = analyst.within(context).script(script, state)
  if (script.source !== undefined && !edits.empty) return refuse('construct', text, 'use $(…) in place of backticks')
  const [statement] = script.commands
  const command = script.commands.length === 1 ? statement?.command : undefined
  if (command?.type === 'Command' && command.name !== undefined && command.redirects.length === 0) {
    const words = [command.name, ...command.args].map((word) => word.text).join(' ')
    if (words === 'pwd') return state.variables.get('PWD') ?? directoryVariable('any')
    if (/^mktemp(?: -[dqu]+)?$/.test(words)) return { kind: 'texts', texts: ['/tmp/tmp.0'], host: true }
  }
  return outcome.number ? { kind: 'number' } : { kind: 'opaque', tainted: outcome.prints }
}

/**
 * Words in an arithmetic expression, and the output of substitutions in it, must be numbers: see {@link isArithmetic}.
 */
export function insideOf(analyst: Analyst, node: SyntaxNode, state: State): void {
  visit(node, (inner) => {
    const substituted = inner.type === 'CommandExpansion' || inner.type === 'ArithmeticCommandExpansion'
    if (substituted && substitute(analyst, inner, state).kind !== 'number') refuse('unknown', inner.text)
    if (inner.type !== 'ArithmeticWord' || inner.parts?.some(({ type }) => type === 'CommandExpansion')) return
    const counted = /^\$\{#\w+\[[@*]\]\}$/.test(inner.value)
    if (!counted && !isArithmetic(inner.value, state)) refuse('unknown', inner.value)
  })
}

/** Digits in every case. */
export function isNumberWord({ texts, host, glob, pieces }: Value): boolean {
  return texts !== undefined && !host && !glob && pieces.length > 0 && texts.every((text) => /^[\d:-]+$/.test(text))
}
