import type { Assignment, Command, Word } from '@ws/command-parser'
import { quoteForShell } from '@ws/core/executor'

import { runProgram } from '../programs/index.ts'
import { refuseDangerous } from '../programs/starters.ts'
import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import { type Argument, Invocation, textOf } from '../invocation/invocation.ts'
import { type AnalysisContext, type Outcome, plain } from '../invocation/analysis-context.ts'
import { Edits } from '../invocation/edits.ts'
import { isArithmetic, isTainted, type State, type Variable, withVariable } from '../invocation/state.ts'
import { deepest, isNumberWord } from './words.ts'

/** A command with its assignments: its redirections are judged already. */
export function judgeCommand(analyst: Analyst, node: Command, state: State): Outcome {
  const assignments = node.prefix.filter((part): part is Assignment => part.type === 'Assignment')
  if (node.name === undefined) return plain(assignments.reduce((before, one) => assign(analyst, one, before), state))
  for (const assignment of assignments) {
    refuseDangerous(assignment.name, assignment.text)
    if (isTainted(assigned(analyst, assignment, state))) refuse('shown', assignment.text)
  }
  const args: Argument[] = []
  let after = state
  for (const part of node.args) {
    if (part.type === 'Word') args.push(analyst.argument(part, state))
    else {
      after = assign(analyst, part, after)
      args.push({ word: asWord(part), value: analyst.value(asWord(part), state) })
    }
  }
  const outcome = start(analyst, [analyst.argument(node.name, state), ...args], state)
  if (after === state) return outcome
  // `export A=x`: the builtin knows the name alone.
  const variables = new Map(outcome.success?.variables ?? state.variables)
  for (const part of node.args)
    if (part.type === 'Assignment')
      variables.set(part.name, after.variables.get(part.name) ?? { kind: 'opaque', tainted: true })
  const known = { ...(outcome.success ?? state), variables }
  return { ...outcome, success: known, failure: known }
}

function assign(analyst: Analyst, assignment: Assignment, state: State): State {
  refuseDangerous(assignment.name, assignment.text)
  return withVariable(state, assignment.name, assigned(analyst, assignment, state))
}

function assigned(analyst: Analyst, { value, append, index }: Assignment, state: State): Variable {
  if (value.type === 'ArrayValue') {
    const tainted = value.elements.map((word) => analyst.value(word, state).tainted)
    return { kind: 'opaque', tainted: tainted.includes(true) }
  }
  const { texts, host, tainted, pieces } = analyst.value(value, state)
  if (index !== undefined && !isArithmetic(index.text, state)) refuse('unknown', index.text)
  if (append || index !== undefined) return { kind: 'opaque', tainted: true }
  const [only] = pieces
  if (pieces.length === 1 && only?.kind === 'expansion') {
    const known = expansion(analyst, value, state)
    if (known?.kind === 'number') return known
  }
  return texts === undefined ? { kind: 'opaque', tainted } : { kind: 'texts', texts, host }
}

/** `i=$((i + 1))`, `n=$(… | wc -l)`: digits. */
function expansion(analyst: Analyst, word: Word, state: State): Variable | undefined {
  const value = analyst.value(word, state)
  return isNumberWord(value) && value.pieces.every(({ kind }) => kind === 'expansion') && value.texts?.join() === '0'
    ? { kind: 'number' }
    : undefined
}

/** The first word is the program. */
function start(analyst: Analyst, args: readonly Argument[], state: State): Outcome {
  if (analyst.context.depth > deepest) return refuse('syntax', args[0]?.word.text ?? '')
  const [program, ...rest] = args
  if (program === undefined) return plain(state)
  const name = textOf(program)
  const { value, word } = program
  // Of several words, or none, the first that is left would be the program.
  const known = name !== undefined && (value.plain || /^[\w./+-]+$/.test(name)) && (!value.tainted || value.host)
  if (!known) return refuse('code', word.text, 'write the name of the program out')
  return runProgram(callOf(analyst, name, rest, state), program)
}

/** Builds the call of a program, with the way to judge commands that it starts in turn. */
export function callOf(analyst: Analyst, name: string, args: readonly Argument[], state: State): Invocation {
  return new Invocation({
    name,
    args,
    state,
    context: analyst.context,
    start: (inner, context) =>
      start(
        analyst.within({ ...context, depth: context.depth + 1 }),
        placed(analyst.within(context), inner, state),
        state,
      ),
    line: (argument, from, context) => line(analyst, argument, from, context),
  })
}

/** A line that is one argument: judged on its own, and quoted again. */
function line(analyst: Analyst, { word, value }: Argument, state: State, context: AnalysisContext): Outcome {
  const [source] = value.texts ?? []
  if (!value.fixed || value.placed || source === undefined) return refuse('code', word.text)
  const edits = new Edits()
  const outcome = analyst.line(source, state, { ...context, source, edits, depth: context.depth + 1 })
  if (!edits.empty) context.edits.replace(word.pos, word.end, quoteForShell(edits.apply(source)))
  return outcome
}

/** Commands that `find` and `xargs` start have the names they found in the place of `{}`. */
function placed(analyst: Analyst, args: readonly Argument[], state: State): readonly Argument[] {
  if (analyst.context.placeholder === undefined) return args
  return args.map((argument) => (argument.value.placed ? argument : analyst.argument(argument.word, state)))
}

/** `NAME=value` among the arguments, as a word: for `export` it is an assignment, for others a text. */
function asWord({ text, pos, end }: Assignment): Word {
  return { type: 'Word', text, value: text, pos, end }
}
