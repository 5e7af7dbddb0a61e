import type { Assignment, Command } from '@ws/command-parser'
import { quoteForShell } from '@ws/core/executor'

import { runProgram } from '../programs/index.ts'
import { refuseDangerous } from '../programs/starters.ts'
import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import { type Argument, Invocation, textOf } from '../invocation/invocation.ts'
import { type Outcome, silent } from '../invocation/analysis-context.ts'
import { isArithmetic } from '../invocation/arithmetic.ts'
import { Edits } from '../invocation/edits.ts'
import { deepest } from './words.ts'

/** A command with its assignments: its redirections are judged already. */
export function judgeCommand(analyst: Analyst, node: Command): Outcome {
  for (const part of node.prefix) if (part.type === 'Assignment') assign(analyst, part)
  const args = node.args.map((part): Argument => {
    if (part.type === 'Word') return analyst.argument(part)
    assign(analyst, part)
    // For `export` it is an assignment, for others a text.
    const { text, pos, end } = part
    return analyst.argument({ type: 'Word', text, value: text, pos, end })
  })
  return node.name === undefined ? silent : start(analyst, [analyst.argument(node.name), ...args])
}

/** No variable ever holds a path of this machine: commands would see it, and change it. */
function assign(analyst: Analyst, { name, text, value, index }: Assignment): void {
  refuseDangerous(name, text)
  if (value.type === 'ArrayValue')
    for (const word of value.elements) analyst.call(name, []).kept(analyst.argument(word))
  else if (analyst.value(value).tainted) refuse('held', text)
  if (index !== undefined && !isArithmetic(index.text)) refuse('arithmetic', text)
}

/** The first word is the program. */
function start(analyst: Analyst, args: readonly Argument[]): Outcome {
  if (analyst.context.depth > deepest) return refuse('syntax', args[0]?.word.text ?? '')
  const [program, ...rest] = args
  if (program === undefined) return silent
  const name = textOf(program)
  const { value, word } = program
  // An expansion to several words, or to none, would make another word the program.
  const known = name !== undefined && (value.plain || /^[\w./+-]+$/.test(name)) && (!value.tainted || value.host)
  if (!known) return refuse('code', word.text, 'write the name of the program out')
  return runProgram(callOf(analyst, name, rest), program)
}

/** Builds the call of a program, with the way to judge commands that it starts in turn. */
export function callOf(analyst: Analyst, name: string, args: readonly Argument[]): Invocation {
  // A `cd` of a process of its own changes nothing for the shell.
  const inShell = name === 'command' || name === 'builtin'
  return new Invocation({
    name,
    args,
    context: analyst.context,
    start(inner, context) {
      const place = inShell ? context.place : { ...context.place }
      const within = analyst.within({ ...context, place, depth: context.depth + 1 })
      return start(within, placed(within, inner))
    },
    line: (argument) => line(analyst, argument),
  })
}

/** A line that is one argument: judged on its own, and quoted again. */
function line(analyst: Analyst, { word, value }: Argument): Outcome {
  const { context } = analyst
  const source = value.text
  if (!value.fixed || value.placed || source === undefined) return refuse('code', word.text)
  const edits = new Edits()
  const place = { ...context.place }
  // The environment of another shell can be a changed one.
  const constants = new Map<string, string>()
  const outcome = analyst.line(source, { ...context, source, edits, place, constants, depth: context.depth + 1 })
  if (!edits.empty) context.edits.replace(word.pos, word.end, quoteForShell(edits.apply(source)))
  return outcome
}

/** Commands that `find` and `xargs` start have the names they found in the place of `{}`. */
function placed(analyst: Analyst, args: readonly Argument[]): readonly Argument[] {
  if (analyst.context.placeholder === undefined) return args
  return args.map((argument) => (argument.value.placed ? argument : analyst.argument(argument.word)))
}
