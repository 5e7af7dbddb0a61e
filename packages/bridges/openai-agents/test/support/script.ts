import type { AgentInputItem } from '@openai/agents'
import { functionCall, modelResponder, ScriptedModel } from '@openai/agents/testing'

type Items = Parameters<typeof modelResponder>[0] extends (call: never) => infer Result ? Awaited<Result> : never

/** One turn of a model: sees the text of the last tool's answer. */
export type Turn = (seen: string) => Items

/** A model that plays these turns, and records the answers that it saw. */
export function playing(turns: readonly Turn[]): { readonly model: ScriptedModel; readonly seen: string[] } {
  const seen: string[] = []
  const model = new ScriptedModel(
    turns.map((turn) =>
      modelResponder(({ request }) => {
        const last = Array.isArray(request.input) ? request.input.at(-1) : undefined
        seen.push(textOf(last))
        return turn(seen.at(-1) ?? '')
      }),
    ),
  )
  return { model, seen }
}

let calls = 0
export function call(name: string, args: Record<string, unknown>): Items {
  calls += 1
  return [functionCall(name, args, { callId: `call-${calls}` })]
}

export function patch(operation: Record<string, unknown>): Items {
  calls += 1
  return [{ type: 'apply_patch_call', callId: `call-${calls}`, status: 'completed', operation } as never]
}

export function commands(...list: readonly string[]): Items {
  calls += 1
  return [{ type: 'shell_call', callId: `call-${calls}`, action: { commands: [...list] } }]
}

function textOf(item: AgentInputItem | undefined): string {
  if (item === undefined || !('output' in item)) return ''
  const { output } = item
  if (typeof output === 'string') return output
  return typeof output === 'object' && output !== null && 'text' in output
    ? String(output.text)
    : JSON.stringify(output)
}
