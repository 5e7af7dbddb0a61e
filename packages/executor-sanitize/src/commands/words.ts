import { type SyntaxNode, visit, type Word, type WordPart } from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import type { AnalysisContext } from '../invocation/analysis-context.ts'
import { isArithmetic } from '../invocation/arithmetic.ts'
import { evaluate, type Known, type Value } from '../invocation/values.ts'

type Substitution = Extract<WordPart, { type: 'CommandExpansion' }>

/** How deep lines may lie in one another. */
export const deepest = 12

/** The value of a word. */
export function valueOf(analyst: Analyst, word: Word): Value {
  const { settings, placeholder, constants } = analyst.context
  return evaluate(word, {
    home: settings.view.root,
    isMount: (path) => settings.view.mounts.some(({ at }) => at === path),
    bash: settings.bash,
    lookUp: (name) => lookUp(name, analyst.context),
    constants,
    placeholder,
    substitute: (part) => substitute(analyst, part),
    compute: judgeArithmetic,
    refuse,
  })
}

/** The variables that hold paths of this machine from the start. No command line can assign them. */
function lookUp(name: string, { settings, place }: AnalysisContext): Known | undefined {
  const { view, trust } = settings
  if (name === 'HOME') return { text: view.root, host: true }
  if (name === 'TMPDIR' && view.mounts.some(({ at }) => at === '/tmp')) return { text: '/tmp', host: true }
  if (name === 'PATH') return { text: undefined, host: trust === 'all' }
  if (name !== 'PWD') return undefined
  const [only, ...others] = place.cwd
  // After `cd /`, PWD lacks the slash at the end of the root's directory, so the end of that directory is not known.
  const known = others.length === 0 && !(place.moved && only === '/')
  return { text: known ? only : undefined, host: true }
}

/** Judges all expansions of a here-document. True when one may put a path of this machine into it. */
export function holdsHosts(analyst: Analyst, parts: readonly WordPart[] | undefined): boolean {
  const values = (parts ?? []).map((part) =>
    analyst.value({ type: 'Word', text: ' ', value: ' ', pos: 0, end: 0, parts: [part] }),
  )
  return values.some(({ tainted }) => tainted)
}

/** True when its output may hold paths of this machine. */
function substitute(analyst: Analyst, { script, text }: Substitution): boolean {
  if (script === undefined) return refuse('syntax', text)
  const { context } = analyst
  // Backticks with backslashes have a text of their own, whose positions are not those of the line.
  if (script.source !== undefined) return refuse('construct', text, 'use $(…) in place of backticks')
  const depth = context.depth + 1
  if (depth > deepest) return refuse('syntax', text)
  const { prints, hosts } = analyst
    .within({ ...context, tainted: false, place: { ...context.place }, depth })
    .list(script.commands)
  context.substituted.hosts ||= hosts
  return prints
}

/** Refuses an arithmetic expression that holds anything but numbers. */
export function judgeArithmetic(node: SyntaxNode): void {
  visit(node, (inner) => {
    if (inner.type === 'CommandExpansion' || inner.type === 'ArithmeticCommandExpansion')
      refuse('arithmetic', inner.text)
    if (inner.type !== 'ArithmeticWord') return
    const counted = /^\$\{#\w+\[[@*]\]\}$/.test(inner.value)
    if (!counted && !isArithmetic(inner.value)) refuse('arithmetic', inner.value)
  })
}
