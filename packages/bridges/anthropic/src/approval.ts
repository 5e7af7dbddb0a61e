import { isDeepStrictEqual } from 'node:util'

import type { CanUseTool, PermissionResult } from '@anthropic-ai/claude-agent-sdk'
import type { Tool, ToolAnswer } from '@ws/tools'
import type { PendingCall, PendingCalls } from '@ws/tools/bridge'

type Input = Parameters<CanUseTool>[1]

/** The SDK's `canUseTool`, with the changes of a call that has run. */
export type CanUseEffects = (
  ...call: [tool: string, input: Input, options: Parameters<CanUseTool>[2] & { readonly pending?: PendingCall }]
) => ReturnType<CanUseTool>

/** Limit of answers that Claude Code has not asked for, as after an interrupt. */
const mostAnswers = 100

/**
 * Makes the `canUseTool` that runs a call before the question, and the function that gives its answer to the server.
 * @param changing the tools that are asked about, by their names for Claude Code
 */
export function askBy(canUseTool: CanUseEffects, pending: PendingCalls, changing: ReadonlyMap<string, Tool>) {
  const answers: { readonly tool: string; readonly input: Input; readonly answer: ToolAnswer }[] = []
  const ask: CanUseTool = async (tool, input, options) => {
    const called = changing.get(tool)
    if (called === undefined) return canUseTool(tool, input, options)
    const { signal, toolUseID: id } = options
    await pending.begin(id, () => called.run(input, { signal }))
    const waiting = pending.get(id)
    const shown = waiting && { ...options, pending: waiting }
    const decision = shown && (await decisionOf(async () => canUseTool(tool, structuredClone(input), shown), input))
    // @defence a call whose changes were not shown: takes all back after
    if (decision?.behavior === 'deny') await pending.get(id)?.decide({ decision: 'drop' })
    const answer = await pending.take(id)
    if (decision?.behavior === 'deny') return { ...decision, message: `${decision.message}\n${answer.text}` }
    answers.splice(0, answers.length + 1 - mostAnswers)
    answers.push({ tool, input, answer })
    return { behavior: 'allow', updatedInput: input }
  }
  /** The SDK gives the server no id of a call. Of equal calls, the last is the one that was just approved. */
  const take = async (tool: string, input: unknown): Promise<ToolAnswer> => {
    const at = answers.findLastIndex((one) => one.tool === tool && isDeepStrictEqual(one.input, input))
    const [found] = at === -1 ? [] : answers.splice(at, 1)
    return found?.answer ?? pending.take(undefined)
  }
  return { ask, take }
}

/** Returns the user's decision, or a denial if there is none about this call. */
async function decisionOf(ask: () => ReturnType<CanUseTool>, input: Input): Promise<PermissionResult> {
  // the words of an exception are not for the model
  const given = await ask().catch(() => null)
  if (given?.behavior === 'deny' && typeof given.message === 'string') return given
  if (given?.behavior === 'allow' && isDeepStrictEqual(given.updatedInput ?? input, input)) return given
  const failed =
    given?.behavior === 'allow' ? 'changed the arguments of a call that has run' : 'failed, or gave no decision'
  return { behavior: 'deny', message: `The approval ${failed}.` }
}
