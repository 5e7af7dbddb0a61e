import { MockLanguageModelV4 } from 'ai/test'

type Generate = MockLanguageModelV4['doGenerate']
type Generated = Awaited<ReturnType<Generate>>

/** A call that the model makes, or the text that it ends with, from the last answer of a tool. */
export type Turn = (seen: string) => { readonly tool: string; readonly input: unknown } | string

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

/** A model that plays these turns, and records the answers that it saw. */
export function playing(turns: readonly Turn[]): { readonly model: MockLanguageModelV4; readonly seen: string[] } {
  const seen: string[] = []
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }): Promise<Generated> => {
      const last = prompt.at(-1)
      seen.push(last?.role === 'tool' ? JSON.stringify(last.content.at(-1)) : '')
      const turn = turns[seen.length - 1]?.(seen.at(-1) ?? '') ?? 'done'
      if (typeof turn === 'string') {
        return {
          content: [{ type: 'text', text: turn }],
          finishReason: { unified: 'stop', raw: 'stop' },
          usage,
          warnings: [],
        }
      }
      const call = { toolCallId: `call-${seen.length}`, toolName: turn.tool, input: JSON.stringify(turn.input) }
      const finishReason = { unified: 'tool-calls', raw: 'tool-calls' } as const
      return { content: [{ type: 'tool-call', ...call }], finishReason, usage, warnings: [] }
    },
  })
  return { model, seen }
}
