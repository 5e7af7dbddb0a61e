import type { ToolAnswer } from '@ws/tools'

/** Names the next call in terms of other tools. */
export function textOf(answer: ToolAnswer, inOtherWords?: (command: string) => string): string {
  const { text, next, isError } = answer
  if (!isError || next === undefined || inOtherWords === undefined || next.tool !== 'shell') return text
  // the next call is the last line
  return `${text.slice(0, text.lastIndexOf('\nNext: '))}\nNext: ${inOtherWords(commandOf(next.arguments['commands']))}`
}

function commandOf(commands: unknown): string {
  const first: unknown = Array.isArray(commands) ? commands[0] : undefined
  return typeof first === 'string' ? first : 'ls -la'
}
