import type { ToolAnswer } from '@ws/tools'

/** The text of an answer. `inOtherWords` renames the suggested next call for other tools. */
export function answerText(answer: ToolAnswer, inOtherWords?: (command: string) => string): string {
  const { text, next, isError } = answer
  if (!isError || next === undefined || inOtherWords === undefined || next.tool !== 'shell') return text
  // the next call is the last line of the text
  return `${text.slice(0, text.lastIndexOf('\nNext: '))}\nNext: ${inOtherWords(commandOf(next.arguments['commands']))}`
}

function commandOf(commands: unknown): string {
  const first: unknown = Array.isArray(commands) ? commands[0] : undefined
  return typeof first === 'string' ? first : 'ls -la'
}
