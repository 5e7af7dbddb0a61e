import { createTools, type Tool } from '@ws/tools'
import { faceNames } from '@ws/tools/face-names'
import { z } from 'zod'

import type { Json } from '../json.ts'
import { defineStepType, type StepType } from './types.ts'

export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly arguments: Json
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string; readonly isError: boolean }

export interface ModelRequest {
  readonly system: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly Pick<Tool, 'name' | 'description' | 'inputSchema'>[]
  /** Tokens that remain for the step. */
  readonly maxTokens: number
  readonly signal: AbortSignal
}

export interface ModelReply {
  readonly text: string
  /** The tool calls of this turn. Empty when the model is done. */
  readonly calls: readonly ModelCall[]
  /** Tokens of this turn, input and output. */
  readonly tokens: number
}

/** A model that the caller provides, called once for each turn. */
export type Model = (request: ModelRequest) => Promise<ModelReply>

const settings = z.strictObject({
  prompt: z.string().min(1),
  system: z.string().default(''),
  face: z.enum(faceNames).default('split').describe('The form of the tools.'),
  maxTurns: z.int().min(1).max(1000).default(20).describe('Calls of the model.'),
  maxTokens: z.int().min(1).default(200_000).describe('Tokens of all turns together, in and out.'),
})

/** Lets a model call tools in the step's workspace until the model makes no more calls. A later run never reuses the outcome. */
export function createAgentStep(model: Model): StepType<z.output<typeof settings>> {
  return defineStepType({
    settings,
    repeatable: false,
    async run({ prompt, system, face, maxTurns, maxTokens }, context) {
      await using toolset = createTools(await context.workspace(), { face, downloads: false })
      const tools = toolset.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
      const messages: ModelMessage[] = [{ role: 'user', text: context.expand(prompt) }]
      let tokens = 0
      for (let turn = 1; turn <= maxTurns; turn += 1) {
        const reply = await model({
          system: `${context.expand(system)}\n${places}`.trim(),
          messages: [...messages],
          tools,
          maxTokens: maxTokens - tokens,
          signal: context.signal,
        })
        context.signal.throwIfAborted()
        tokens += reply.tokens
        context.log(`turn ${turn}: ${reply.text}\n`)
        if (reply.calls.length === 0) return { text: reply.text, turns: turn, tokens }
        if (tokens >= maxTokens) throw new Error(`the model used ${tokens} tokens, and the step allows ${maxTokens}`)
        messages.push({ role: 'assistant', text: reply.text, calls: reply.calls })
        for (const call of reply.calls) {
          const answer = await toolset.run(call.name, call.arguments, { signal: context.signal })
          context.log(`  ${call.name} ${JSON.stringify(call.arguments)}\n  ${answer.text.slice(0, 2000)}\n`)
          messages.push({ role: 'tool', callId: call.id, text: answer.text, isError: answer.isError })
        }
      }
      throw new Error(`the model was not done after ${maxTurns} turns`)
    },
  })
}

const places = 'Read only your inputs, below /workspace. Write only your outputs, below /output.'
