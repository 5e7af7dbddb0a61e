import type { AgentConfig } from '@mastra/core/agent'
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock'

/** A call that the model makes, or the text that it ends with. */
export type Turn = { readonly tool: string; readonly input: unknown } | string

/** Makes the next turn of the text of the last tool result. */
export type Next = (last: string) => Turn

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }

/** A model that plays its turns, one after the other. */
export function scriptedModel(turns: readonly (Turn | Next)[]): AgentConfig['model'] {
  let played = 0
  type Options = Parameters<MastraLanguageModelV2Mock['doStream']>[0]
  type Part =
    Awaited<ReturnType<MastraLanguageModelV2Mock['doStream']>>['stream'] extends ReadableStream<infer One> ? One : never

  const parts = ({ prompt }: Options): Part[] => {
    const next = turns[played] ?? 'done'
    played += 1
    const turn = typeof next === 'function' ? next(lastResult(prompt)) : next
    const start: Part = { type: 'stream-start', warnings: [] }
    if (typeof turn === 'string') {
      return [
        start,
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: turn },
        { type: 'text-end', id: '1' },
        { type: 'finish', finishReason: 'stop', usage },
      ]
    }
    const call = { toolCallId: `call-${played}`, toolName: turn.tool, input: JSON.stringify(turn.input) }
    return [start, { type: 'tool-call', ...call }, { type: 'finish', finishReason: 'tool-calls', usage }]
  }
  const model: unknown = new MastraLanguageModelV2Mock({
    doStream: async (options: Options) => ({ stream: streamOf(parts(options)) }),
  })
  // Mastra's own mock is not of Mastra's own type where optional fields are exact
  return model as AgentConfig['model']
}

function streamOf<Part>(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream<Part>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}

/** The text of the last tool result of a prompt. */
function lastResult(prompt: readonly { readonly role: string; readonly content: unknown }[]): string {
  const message = prompt.at(-1)
  if (message?.role !== 'tool') return ''
  const [part] = message.content as readonly { readonly output: { readonly value: unknown } }[]
  const value = part?.output.value
  return typeof value === 'string' ? value : JSON.stringify(value)
}
