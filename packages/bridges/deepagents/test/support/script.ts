import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'

/** A call that the model makes, or the text that it ends with. */
export type Turn = { readonly name: string; readonly args: Record<string, unknown> } | string

/** Makes the next turn of the text of the last message. */
export type Next = (last: string) => Turn

/** A model that plays its turns, one after the other. */
export class ScriptedModel extends BaseChatModel {
  readonly #turns: readonly (Turn | Next)[]
  #played = 0
  /** The instructions of the last turn. */
  instructions = ''

  constructor(turns: readonly (Turn | Next)[]) {
    super({})
    this.#turns = turns
  }

  _llmType(): string {
    return 'scripted'
  }

  override bindTools(): this {
    return this
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const next = this.#turns[this.#played] ?? 'done'
    this.#played += 1
    this.instructions = messages.find(({ type }) => type === 'system')?.text ?? ''
    const turn = typeof next === 'function' ? next(messages.at(-1)?.text ?? '') : next
    const message =
      typeof turn === 'string'
        ? new AIMessage(turn)
        : new AIMessage({ content: '', tool_calls: [{ ...turn, id: `call-${this.#played}`, type: 'tool_call' }] })
    return { generations: [{ text: message.text, message }] }
  }
}
