import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Approval, ApprovalRequest, Tool, ToolAnswer, Toolset } from '@ws/tools'
import { describeEffects, PendingCalls } from '@ws/tools/bridge'
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

/** Limit of characters of a diff in a question. */
const diffCharacters = 4_000
/** Milliseconds. A question ends with the time to decide, which is shorter. */
const longestTimer = 2_147_483_647
const key = 'effects'

type Asks = (request: ApprovalRequest) => Promise<Approval>

interface AskedCall {
  readonly server: McpServer
  readonly tool: Tool
  readonly input: unknown
  readonly mcpReq: ServerContext['mcpReq']
}

/**
 * Asks the user of a client about the effects of calls, by elicitation. Clients of the older protocol are asked while the call runs. In the
 * newer protocol, the first answer is the question, and the call is repeated with the user's decision.
 */
export class Approvals {
  readonly #pending = new PendingCalls()
  readonly #asks = new AsyncLocalStorage<Asks>()

  /** For the option `approve` of the tools. */
  readonly approve: Asks = (request) => (this.#asks.getStore() ?? this.#pending.approve)(request)

  async run(call: AskedCall): Promise<ToolAnswer | InputRequiredResult> {
    const { server, tool, input, mcpReq } = call
    const declared = capabilitiesOf(mcpReq)
    const { elicitation } = declared ?? server.server.getClientCapabilities() ?? {}
    // an empty capability means forms, as before there were other kinds
    if (elicitation === undefined || (elicitation.form === undefined && elicitation.url !== undefined)) {
      return cannotAsk(tool.name) // @defence `return …` a client that cannot ask
    }
    if (declared !== undefined) return this.#inTwo(call)
    return this.#asks.run(
      (request) => elicit(mcpReq, request),
      () => tool.run(input, { signal: mcpReq.signal }),
    )
  }

  /** Decides about a call by the response to its question. */
  async decide(id: string, { inputResponses }: ServerContext['mcpReq']): Promise<ToolAnswer | InputRequiredResult> {
    const response = inputResponse(inputResponses, key)
    const given = response.kind === 'elicit' ? response : { action: 'cancel' as const }
    const again = await this.#pending.get(id)?.decide(approvalOf(given))
    return again === undefined ? this.#pending.take(id) : question(id, again)
  }

  /** Closes the toolset of the calls. Resolves when all calls have ended. */
  close(toolset: Pick<Toolset, 'close'>): Promise<void> {
    return this.#pending.close(toolset)
  }

  async #inTwo({ tool, input, mcpReq }: AskedCall): Promise<ToolAnswer | InputRequiredResult> {
    const id = randomUUID()
    // the request ends with the question, and the call does not
    const ends = new AbortController()
    const abort = (): void => ends.abort(mcpReq.signal.reason)
    mcpReq.signal.addEventListener('abort', abort, { once: true })
    if (mcpReq.signal.aborted) abort()
    try {
      await this.#pending.begin(id, () => tool.run(input, { signal: ends.signal }))
      const call = this.#pending.get(id)
      return await (call === undefined ? this.#pending.take(id) : question(id, call))
    } finally {
      mcpReq.signal.removeEventListener('abort', abort)
    }
  }
}

/** The client's capabilities in the newer protocol, where each request declares them. */
function capabilitiesOf({ envelope }: ServerContext['mcpReq']): ClientCapabilities | undefined {
  return (envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined)?.[
    CLIENT_CAPABILITIES_META_KEY
  ]
}

async function elicit({ elicitInput }: ServerContext['mcpReq'], request: ApprovalRequest): Promise<Approval> {
  return approvalOf(await elicitInput(await formOf(request), { signal: request.signal, timeout: longestTimer }))
}

async function question(id: string, request: ApprovalRequest): Promise<InputRequiredResult> {
  return inputRequired({
    inputRequests: { [key]: inputRequired.elicit(await formOf(request)) },
    requestState: id,
  })
}

const choices = { keep: 'keep all', paths: 'keep the paths', drop: 'take all back', grant: 'allow, and run again' }

async function formOf(request: ApprovalRequest): Promise<ElicitRequestFormParams> {
  const { keep, paths, drop, grant } = choices
  const asks = request.asked.length > 0
  return {
    mode: 'form',
    message: await describeEffects(request, { diffCharacters }),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: asks ? [keep, paths, drop, grant] : [keep, paths, drop] },
        paths: { type: 'string', title: 'Paths to keep', description: 'Separated by commas' },
        message: { type: 'string', title: 'Words for the model' },
      },
      required: ['decision'],
    },
  }
}

/** An answer that was not offered becomes an approval that the tools refuse. */
function approvalOf({
  action,
  content = {},
}: {
  readonly action: string
  readonly content?: object | undefined
}): Approval {
  const { decision, paths, message } = content as { readonly [Name in 'decision' | 'paths' | 'message']?: unknown }
  const words = typeof message === 'string' ? { message } : {}
  if (action !== 'accept' || decision === choices.drop) return { decision: 'drop', ...words }
  if (decision === choices.keep) return { decision: 'keep', ...words }
  if (decision === choices.grant) return { decision: 'keep', grant: true, ...words }
  const named = decision === choices.paths && typeof paths === 'string' ? paths.split(',') : undefined
  return {
    decision: named === undefined ? undefined : 'keep',
    paths: named?.map((path) => path.trim()).filter((path) => path !== ''),
    ...words,
  } as Approval
}

function cannotAsk(tool: string): ToolAnswer {
  return {
    isError: true,
    text: `Error: \`${tool}\` needs the approval of a person, and this client cannot ask: it does not offer forms of elicitation. Nothing was run; tell the user.`,
    data: { code: 'EACCES', approval: 'failed' },
  }
}
