import { MockLanguageModelV4 } from 'ai/test'

type Generate = MockLanguageModelV4['doGenerate']
type Prompt = Parameters<Generate>[0]['prompt']
type Generated = Awaited<ReturnType<Generate>>

interface Call {
  readonly tool: string
  readonly input: unknown
}

/** The calls that the model makes, or the text that it ends with. */
export type Turn = Call | readonly Call[] | string

/** Makes the next turn of the text of the last tool result. */
export type Next = (last: string) => Turn

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

/** A model that plays its turns, one after the other; each sees the last tool result that it was sent. */
export function scriptedModel(turns: readonly (Turn | Next)[]): MockLanguageModelV4 {
  let played = 0
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }): Promise<Generated> => {
      const next = turns[played] ?? 'done'
      played += 1
      const turn = typeof next === 'function' ? next(lastResult(prompt)) : next
      if (typeof turn === 'string') {
        return { content: [{ type: 'text', text: turn }], finishReason: reason('stop'), usage, warnings: [] }
      }
      const content = [turn].flat().map(({ tool, input }, index) => {
        const toolCallId = `call-${played}${index === 0 ? '' : `-${index}`}`
        return { type: 'tool-call' as const, toolCallId, toolName: tool, input: JSON.stringify(input) }
      })
      return { content, finishReason: reason('tool-calls'), usage, warnings: [] }
    },
  })
}

function reason(unified: 'stop' | 'tool-calls'): Generated['finishReason'] {
  return { unified, raw: unified }
}

/** The text of the last tool result of a prompt, with the kind of its output in front: `error-text: …`. */
export function lastResult(prompt: Prompt): string {
  const message = prompt.at(-1)
  if (message?.role !== 'tool') return ''
  const part = message.content.at(-1)
  if (part?.type !== 'tool-result') return ''
  const { output } = part
  const text = 'value' in output ? output.value : 'reason' in output ? output.reason : undefined
  return `${output.type}: ${typeof text === 'string' ? text : JSON.stringify(text)}`
}
