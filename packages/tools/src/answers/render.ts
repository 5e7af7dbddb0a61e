import type { NextCall, ToolAnswer } from '../types.ts'
import { sentenceOf } from './from-error.ts'
import type { ProblemOptions } from './problem.ts'

/** The answer for a call that was not carried out: the fault, the remedy, and a ready call where one is possible. */
export function renderProblem(
  { sentence, remedy, details, data }: ProblemOptions,
  next: NextCall | undefined,
): ToolAnswer {
  const lines = [`Error: ${sentenceOf(sentence)} ${sentenceOf(capital(remedy))}`]
  if (details !== undefined && details !== '') lines.push(details)
  if (next !== undefined) lines.push(`Next: ${next.tool} ${JSON.stringify(next.arguments)}`)
  return { isError: true, text: lines.join('\n'), data, ...(next && { next }) }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
