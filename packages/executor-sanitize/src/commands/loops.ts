import { type CommandNode, staticText, type SyntaxNode, visit, type Word } from '@ws/command-parser'

import { refuseDangerous } from '../programs/starters.ts'
import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import { numbered } from './arithmetic.ts'
import { directoryVariable } from '../programs/builtins.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { both, gather } from './outcomes.ts'
import { isNumber, isTainted, join, type State, type Variable, withVariable } from '../invocation/state.ts'
import { isNumberWord } from './words.ts'

export function judgeFor(analyst: Analyst, node: Extract<CommandNode, { type: 'For' }>, state: State): Outcome {
  const name = staticText(node.name)
  if (name === undefined) return refuse('construct', node.name.text)
  refuseDangerous(name, name)
  const variable =
    node.wordlist === undefined ? ({ kind: 'opaque', tainted: true } as const) : listed(analyst, node.wordlist, state)
  return judgeLoop(analyst, node, state, (body) => analyst.list(node.body.commands, withVariable(body, name, variable)))
}

/** `while` and `until` */
export function judgeWhile(analyst: Analyst, node: Extract<CommandNode, { type: 'While' }>, state: State): Outcome {
  return judgeLoop(analyst, node, state, (body) => {
    const clause = analyst.list(node.clause.commands, body)
    return both(clause, analyst.list(node.body.commands, join(clause.success, clause.failure) ?? body))
  })
}

/** `for ((…))` */
export function judgeArithmeticFor(
  analyst: Analyst,
  node: Extract<CommandNode, { type: 'ArithmeticFor' }>,
  state: State,
): Outcome {
  for (const part of [node.initialize, node.test, node.update]) if (part !== undefined) analyst.inside(part, state)
  const start = numbered(state, [node.initialize])
  return judgeLoop(analyst, node, start, (body) => analyst.list(node.body.commands, body))
}

/**
 * The values that the variable of a `for` can have. Patterns that are absolute become paths of this machine where they
 * stand.
 */
function listed(analyst: Analyst, words: readonly Word[], state: State): Variable {
  const values = words.map((word) => ({ word, value: analyst.value(word, state) }))
  const patterns = values.some(
    ({ value }) => value.host || (value.glob && value.texts?.some((text) => text.startsWith('/'))),
  )
  const texts: string[] = []
  let host = patterns
  let numbers = 0
  for (const argument of values) {
    const { value } = argument
    if (isNumberWord(value) && (value.splits || value.brace || !value.fixed)) {
      numbers++
      continue
    }
    if (value.texts === undefined || value.splits || value.brace) return { kind: 'opaque', tainted: value.tainted }
    if (patterns || value.glob) {
      const call = analyst.call('for', [argument], state)
      call.path(argument, 'read')
      host &&= call.hosts
      if (patterns && !call.hosts) return refuse('unknown', argument.word.text)
    }
    texts.push(...value.texts)
  }
  if (numbers > 0)
    return texts.every((text) => /^\d+$/.test(text)) ? { kind: 'number' } : { kind: 'opaque', tainted: host }
  return texts.length > 64 ? { kind: 'opaque', tainted: host } : { kind: 'texts', texts: [...new Set(texts)], host }
}

/** A body runs any number of times: its changes are not known at its start. */
function judgeLoop(analyst: Analyst, node: SyntaxNode, state: State, run: (state: State) => Outcome): Outcome {
  const changed = new Set<string>()
  let moves = false
  visit(node, (inner) => {
    if (inner.type === 'Assignment') changed.add(inner.name)
    if (inner.type !== 'Command' || inner.name === undefined) return
    const name = staticText(inner.name)
    if (name === 'cd' || analyst.context.functions.has(name ?? '')) moves = true
    if (name === 'read' || name === 'unset')
      for (const word of inner.args) if (word.type === 'Word') changed.add(word.text)
  })
  // Each turn begins with the state that the last one left: taken for harmless first, until a turn shows otherwise.
  let assumed = new Map<string, Variable>()
  for (const name of changed) {
    const before = state.variables.get(name)
    assumed.set(
      name,
      before !== undefined && isNumber(before)
        ? { kind: 'number' }
        : { kind: 'opaque', tainted: before !== undefined && isTainted(before) },
    )
  }
  for (;;) {
    const facts = { ...analyst.context.facts }
    let start: State = { ...state, variables: new Map([...state.variables, ...assumed]) }
    if (moves)
      start = { ...start, cwd: 'any', variables: new Map(start.variables).set('PWD', directoryVariable('any')) }
    const outcome = run(start)
    const after = join(outcome.success, outcome.failure) ?? start
    const next = new Map<string, Variable>()
    for (const [name, variable] of assumed) {
      const left = after.variables.get(name) ?? variable
      const number = variable.kind === 'number' && isNumber(left)
      next.set(name, number ? variable : { kind: 'opaque', tainted: isTainted(variable) || isTainted(left) })
    }
    const same = [...next].every(([name, variable]) => {
      const before = assumed.get(name)
      return before?.kind === variable.kind && isTainted(before) === isTainted(variable)
    })
    const { links, unchecked } = analyst.context.facts
    if (same && links === facts.links && unchecked === facts.unchecked)
      return gather([outcome], join(state, join(start, after)))
    assumed = next
  }
}
