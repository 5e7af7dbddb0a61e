import {
  type Assignment,
  type Command,
  type CommandNode,
  parseScript,
  type Pipeline,
  type Redirection,
  type Script,
  type Statement,
  UnreadableCommand,
  visit,
} from '@ws/command-parser'

import { type AnalysisContext, type Outcome, type Settings, silent, together } from '../invocation/analysis-context.ts'
import { Edits } from '../invocation/edits.ts'
import { Invocation } from '../invocation/invocation.ts'
import { evaluate } from '../invocation/values.ts'
import { runProgram } from '../programs/index.ts'
import { refuse } from '../refusal.ts'
import { judgeRedirections } from './redirections.ts'
import { refuseDangerous } from './variables.ts'

export interface SanitizeOptions extends Settings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Replaces absolute workspace paths of a command by host paths. Checks all commands in order, and tracks possible working directories.
 * @throws Refusal for a command that may leave the workspace, or whose effect would differ from that in a view
 */
export function sanitize(source: string, { cwd, env, ...settings }: SanitizeOptions): string {
  const edits = new Edits()
  const script = read(source)
  const constants = new Map(Object.entries(env))
  visit(script, (node) => {
    if (node.type === 'Assignment') constants.delete(node.name)
  })
  const place = { cwd: new Set([cwd]), moved: false }
  judgeList(script.commands, { settings, edits, facts: { links: false }, place, constants, source, tainted: false })
  return edits.apply(source)
}

function read(source: string): Script {
  try {
    return parseScript(source)
  } catch (error) {
    if (!(error instanceof UnreadableCommand)) throw error
    return refuse('syntax', source.length > 80 ? `${source.slice(0, 80)}…` : source)
  }
}

function judgeList(statements: readonly Statement[], context: AnalysisContext): Outcome {
  return together(statements.map(({ command }) => maybe(command, context)))
}

/** Checks a command whose `cd` can fail: later commands may then run in either directory. */
function maybe(node: Statement['command'], context: AnalysisContext): Outcome {
  const { place } = context
  const before = place.cwd
  const outcome = judge(node, context)
  place.cwd = new Set([...before, ...place.cwd])
  return outcome
}

function judge(node: Statement['command'], context: AnalysisContext): Outcome {
  switch (node.type) {
    case 'AndOr':
      return judgeAndOr(node.commands, node.operators, context)
    case 'Pipeline':
      return judgePipeline(node, context)
    case 'Command':
      return redirected(node.redirects, context, (inner) => judgeCommand(node, inner))
    case 'Redirected':
      return redirected(node.redirects, context, (inner) => judge(node.command, inner))
    case 'BraceGroup':
      return judgeList(node.body.commands, context)
    case 'Subshell':
      return judgeList(node.body.commands, { ...context, place: { ...context.place } })
    default:
      return refuse('construct', context.source.slice(node.pos, node.end))
  }
}

/** Checks commands joined by `&&` and `||`. After `cd x &&`, the next command runs only in `x`. */
function judgeAndOr(
  commands: readonly Statement['command'][],
  operators: readonly string[],
  context: AnalysisContext,
): Outcome {
  const { place } = context
  let seen = place.cwd
  const outcomes = commands.map((command, index) => {
    const other = operators[index - 1] === '||'
    if (other) place.cwd = seen
    const outcome = judge(command, context)
    seen = new Set([...seen, ...place.cwd])
    if (other) place.cwd = seen
    return outcome
  })
  place.cwd = seen
  return together(outcomes)
}

function judgePipeline({ commands, operators }: Pipeline, context: AnalysisContext): Outcome {
  const [only, ...others] = commands
  if (only !== undefined && others.length === 0) return maybe(only, context)
  let { tainted } = context
  let hosts = false
  let last = silent
  commands.forEach((command: CommandNode, index) => {
    // Each part of a pipeline runs in its own shell, with its own working directory.
    last = judge(command, { ...context, tainted, place: { ...context.place } })
    hosts ||= last.hosts
    tainted = last.prints || (operators[index] === '|&' && last.hosts)
  })
  return { prints: last.prints, hosts }
}

function redirected(
  redirections: readonly Redirection[],
  context: AnalysisContext,
  run: (inner: AnalysisContext) => Outcome,
): Outcome {
  const judged = judgeRedirections(redirections, context)
  return judged.apply(run({ ...context, tainted: judged.tainted }))
}

/** Checks a simple command after its redirections: its assignments, its program (the first word), and its arguments. */
function judgeCommand({ name, prefix, args }: Command, context: AnalysisContext): Outcome {
  for (const part of prefix) if (part.type === 'Assignment') assign(part, context)
  if (name === undefined) return silent
  const program = { word: name, value: evaluate(name, context) }
  const { text, fixed, splits, tainted, host } = program.value
  // If an expansion gave no word or several words, another word would become the program.
  if (text === undefined || !fixed || splits || (tainted && !host))
    return refuse('code', name.text, 'write the name of the program out')
  const values = args.map((word) => {
    if (word.type !== 'Word') return refuse('construct', context.source.slice(name.pos, word.end))
    return { word, value: evaluate(word, context) }
  })
  return runProgram(new Invocation(text, values, context), program)
}

/** Checks an assignment. A variable must not contain a host path: later commands would see and change the path. */
function assign({ name, text, value, index }: Assignment, context: AnalysisContext): void {
  if (value.type === 'ArrayValue' || index !== undefined) return refuse('construct', text)
  const { tainted, text: known } = evaluate(value, context)
  refuseDangerous(name, known, text)
  if (tainted) refuse('held', text)
}
