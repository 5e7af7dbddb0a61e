import type { CommandNode, Script, Statement, SyntaxNode, Word } from '@ws/command-parser'

import type { Argument, Invocation } from '../invocation/invocation.ts'
import type { AnalysisContext, Outcome } from '../invocation/analysis-context.ts'
import type { State } from '../invocation/state.ts'
import type { Value } from '../invocation/values.ts'

/** Judges what a command line is made of. Each part has a file of its own, which judges what is inside of it through this. */
export interface Analyst {
  readonly context: AnalysisContext
  list(statements: readonly Statement[], start: State): Outcome
  command(node: CommandNode, state: State): Outcome
  /** The values that a word can take, with the substitutions in it judged. */
  value(word: Word, state: State): Value
  argument(word: Word, state: State): Argument
  call(name: string, args: readonly Argument[], state: State): Invocation
  /** Judges the substitutions of an arithmetic expression, whose words are numbers. */
  inside(node: SyntaxNode, state: State): void
  /** The node as it was written. */
  text(node: SyntaxNode): string
  /** The same with something else around it. */
  within(context: AnalysisContext): Analyst
  script(script: Pick<Script, 'commands'>, state: State): Outcome
  /** Parses and judges a line. @throws Refusal */
  line(source: string, state: State, context: AnalysisContext): Outcome
}
