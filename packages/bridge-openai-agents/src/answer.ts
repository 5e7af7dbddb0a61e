import type { Json, ToolAnswer } from '@ws/tools'

/** The text of an answer, with its next call in the words of other tools than those that it was made for. */
export function textOf(answer: ToolAnswer, inOtherWords?: (command: string) => string): string {
  const { text, next } = answer
  if (next === undefined || inOtherWords === undefined || next.tool !== 'shell') return text
  const own = `Next: ${next.tool} ${JSON.stringify(next.arguments)}`
  if (!text.endsWith(own)) return text
  return `${text.slice(0, -own.length)}Next: ${inOtherWords(commandOf(next.arguments['commands']))}`
}

function commandOf(commands: Json | undefined): string {
  const first: unknown = Array.isArray(commands) ? commands[0] : undefined
  return typeof first === 'string' ? first : 'ls -la'
}
