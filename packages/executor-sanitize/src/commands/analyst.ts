import type { CommandNode, Statement, SyntaxNode, Word } from '@ws/command-parser'

import type { Argument, Invocation } from '../invocation/invocation.ts'
import type { AnalysisContext, Outcome } from '../invocation/analysis-context.ts'
import type { Value } from '../invocation/values.ts'

/** Judges what a command line is made of. Each part has a file of its own, which judges what is inside of it through this. */
export interface Analyst {
  readonly context: AnalysisContext
  list(statements: readonly Statement[]): Outcome
  command(node: CommandNode): Outcome
  /** The value of a word, with the substitutions in it judged. */
  value(word: Word): Value
  argument(word: Word): Argument
  call(name: string, args: readonly Argument[]): Invocation
  /** The node as it was written. */
  text(node: SyntaxNode): string
  /** The same with something else around it. */
  within(context: AnalysisContext): Analyst
  /** Parses and judges a line. @throws Refusal */
  line(source: string, context: AnalysisContext): Outcome
}
