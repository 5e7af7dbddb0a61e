import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { rules, type Workspace } from '@ws/core'
import type { StdioOptions } from '@ws/mcp-server'
import { createCheckpoints } from '@ws/snapshots'
import { describe, expect, it, onTestFinished } from 'vitest'

import { Desk } from '../src/stdio/desk.ts'
import { PipeTransport } from './support/clients.ts'
import { openWorkspace, serveOne } from './support/serve.ts'

interface Question {
  readonly message: string
  readonly requestedSchema: object
}
/** How a client's user answers a question. */
type Answer = (question: Question, signal: AbortSignal) => unknown

interface AnyClient {
  callTool(call: object, ...options: unknown[]): Promise<unknown>
  close(): Promise<void>
}

type Connect = (workspace: Workspace, answer?: Answer, options?: Pick<StdioOptions, 'tools'>) => Promise<AnyClient>

const info = { name: 'test', version: '1.0.0' }
const asks = { capabilities: { elicitation: {} } }
const modern = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const

function modernClient(answer: Answer | undefined): Client {
  const client = new Client(info, { ...modern, ...(answer && asks) })
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      return (await answer(params as unknown as Question, mcpReq.signal)) as never
    })
  return client
}

function earlierClient(answer: Answer | undefined): EarlierClient {
  const client = new EarlierClient(info, answer && asks)
  if (answer !== undefined)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      return (await answer(params as unknown as Question, signal)) as never
    })
  return client
}

const overPipes =
  (make: typeof modernClient | typeof earlierClient): Connect =>
  async (workspace, answer, options) => {
    const client = make(answer)
    await client.connect(new PipeTransport(workspace, { approve: true, ...options }) as never)
    onTestFinished(() => client.close())
    return client as AnyClient
  }

const overHttp =
  (make: typeof modernClient | typeof earlierClient, transport: new (url: URL) => unknown): Connect =>
  async (workspace, answer, options) => {
    const { url } = await serveOne(workspace, { approve: true, ...options })
    const client = make(answer)
    await client.connect(new transport(url) as never)
    onTestFinished(() => client.close())
    return client as AnyClient
  }

const files = { '/a.txt': 'one\n', '/b.txt': 'b\n', '/secret': 'hidden\n', '/key.pem': 'key\n' }
const open = (): Promise<Workspace> =>
  openWorkspace(files, { checkpoints: createCheckpoints(), rules: [rules.deny('/secret'), rules.ask('*.pem')] })
const execute = (command: string) => ({ name: 'execute', arguments: { command } })
const bad = execute('rm b.txt; echo two > a.txt; mkdir made; echo x > made/c.txt; cat secret')
const accept = (content: object) => () => ({ action: 'accept', content })
const textOf = (answer: unknown): string => (answer as { content: { text: string }[] }).content[0]?.text ?? ''

describe.each<[string, Connect]>([
  ['the newer protocol over pipes', overPipes(modernClient)],
  ['the earlier protocol over pipes', overPipes(earlierClient)],
  ['the newer protocol over HTTP', overHttp(modernClient, StreamableHTTPClientTransport)],
])('[EF5] approval by elicitation in %s', (_name, connect) => {
  it('shows the changes of a call, keeps half of them, and goes on', async () => {
    const workspace = await open()
    const questions: Question[] = []
    const client = await connect(workspace, (question) => {
      questions.push(question)
      const content = { decision: 'keep the paths', paths: '/made, a.txt, ', message: 'leave b.txt' }
      return { action: 'accept', content }
    })
    expect(textOf(await client.callTool(execute('cat a.txt')))).toContain('one')
    expect(questions).toEqual([])
    const answer = await client.callTool(bad)
    expect(questions).toHaveLength(1)
    expect(questions[0]?.message).toMatch(/^`execute` changed these files:\n.*deleted \/b\.txt.*\n\n.*-one\n\+two/su)
    expect(questions[0]?.message).not.toContain('hidden')
    expect(textOf(answer)).toMatch(/kept a part.*leave b\.txt.*taken back:\ndeleted \/b\.txt/su)
    expect(await workspace.readText('/a.txt')).toBe('two\n')
    expect(await workspace.readText('/b.txt')).toBe('b\n')
  })

  it.each<[string, Answer, RegExp | undefined]>([
    ['keeps all', accept({ decision: 'keep all' }), undefined],
    ['takes all back', accept({ decision: 'take all back', message: 'no' }), /A person looked.*The person says: no/su],
    ['declines', () => ({ action: 'decline' }), /took them back/u],
    ['cancels', () => ({ action: 'cancel' }), /took them back/u],
    [
      'names another path',
      accept({ decision: 'keep the paths', paths: 'else' }),
      /a path that the call did not change/u,
    ],
    ['names no path', accept({ decision: 'keep the paths' }), /not a decision/u],
    ['names an empty path', accept({ decision: 'keep the paths', paths: ' ' }), /took them back/u],
    ['makes another choice', accept({ decision: 'grant' }), /not a decision|the approval failed/u],
  ])('does what a user decides who %s', async (_, answer, words) => {
    const workspace = await open()
    const client = await connect(workspace, answer)
    const text = textOf(await client.callTool(bad))
    if (words === undefined) expect(text).toContain('Exit code')
    else expect(text).toMatch(words)
    expect(await workspace.exists('/b.txt')).toBe(words !== undefined)
    // nothing waits any more
    expect(textOf(await client.callTool(execute('ls')))).toContain('Exit code 0')
  })

  it('[EF6] runs a call again when its user allows what a rule refused', async () => {
    const workspace = await open()
    const questions: Question[] = []
    const client = await connect(workspace, (question) => {
      questions.push(question)
      const decision = questions.length === 1 ? 'allow, and run again' : 'keep all'
      return { action: 'accept', content: { decision } }
    })
    expect(textOf(await client.callTool(execute('cp key.pem copy.txt')))).toContain('Exit code 0')
    expect(questions.map(({ message }) => message)).toEqual([
      expect.stringContaining('Asked for, and refused by a rule:\n  /key.pem (rule ask(*.pem))'),
      '`execute` changed these files:\ncreated /copy.txt\n\n--- /dev/null\n+++ b/copy.txt\n@@ -0,0 +1,1 @@\n+key',
    ])
    expect(await workspace.readText('/copy.txt')).toBe('key\n')
  })

  it('takes back a call that nobody decides about', async () => {
    const workspace = await open()
    const silent: Answer = (_question, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    const client = await connect(workspace, silent, { tools: { face: 'split', decideWithin: 50 } })
    client.callTool(bad).catch(() => undefined) // the client waits for its user
    while (textOf(await client.callTool(execute('ls'))).includes('wait')) await new Promise(setImmediate)
    expect(await workspace.exists('/b.txt')).toBe(true)
  })

  it('runs no changing call of a client that cannot ask', async () => {
    const workspace = await open()
    const client = await connect(workspace)
    expect(textOf(await client.callTool({ name: 'read', arguments: { path: '/a.txt' } }))).toContain('one')
    expect(textOf(await client.callTool(bad))).toMatch(/needs the approval of a person, and this client cannot ask/u)
    expect(await workspace.exists('/b.txt')).toBe(true)
  })
})

describe('[EF5] a client that goes', () => {
  it.each<[string, Connect]>([
    ['the newer protocol', overPipes(modernClient)],
    ['the earlier protocol', overPipes(earlierClient)],
  ])('leaves no changes behind, in %s', async (_name, connect) => {
    const workspace = await open()
    const asked = Promise.withResolvers<void>()
    const client = await connect(workspace, () => {
      asked.resolve()
      return new Promise(() => undefined)
    })
    client.callTool(bad).catch(() => undefined) // the connection ends
    await asked.promise
    expect(await workspace.exists('/b.txt')).toBe(false)
    await client.close()
    await expect.poll(() => workspace.exists('/b.txt')).toBe(true)
  })

  it('leaves no changes behind when it cancels the call, in the earlier protocol', async () => {
    const workspace = await open()
    const cancel = new AbortController()
    const client = await overPipes(earlierClient)(workspace, () => {
      cancel.abort()
      return new Promise(() => undefined)
    })
    await expect(client.callTool(bad, undefined, { signal: cancel.signal })).rejects.toThrow()
    await expect.poll(() => workspace.exists('/b.txt')).toBe(true)
  })

  it('cannot be asked over HTTP in the earlier protocol', async () => {
    const workspace = await open()
    const client = await overHttp(earlierClient, EarlierHttpTransport)(workspace, accept({ decision: 'keep all' }))
    expect(textOf(await client.callTool(bad))).toContain('this client cannot ask')
    expect(await workspace.exists('/b.txt')).toBe(true)
  })
})

describe('[EF5] the decision about another call', () => {
  it('keeps nothing by a state that is not known', async () => {
    const workspace = await open()
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<unknown>()
    const client = await overPipes(modernClient)(workspace, () => {
      asked.resolve()
      return answered.promise
    })
    const content = { decision: 'keep all' }
    const forged = { requestState: 'x', inputResponses: { effects: { action: 'accept', content } } }
    const decide = () =>
      (client as unknown as Client).request({ method: 'tools/call', params: { ...execute('rm a.txt'), ...forged } })
    expect(JSON.stringify(await decide())).toContain('were not shown to a person')
    const waiting = client.callTool(bad)
    await asked.promise
    expect(JSON.stringify(await decide())).toContain('were not shown to a person')
    answered.resolve({ action: 'decline' })
    expect(textOf(await waiting)).toContain('took them back')
    expect(await workspace.exists('/b.txt')).toBe(true)
  })

  it('takes no answer that was not asked for', async () => {
    const taken: object[] = []
    const listen = async () => () => undefined
    const limits = { maxCalls: 1, maxStreams: 1, maxBodyBytes: 1_000 }
    const desk = new Desk(limits, { deliver: (message) => void taken.push(message), listen })
    desk.asked(1)
    for (const id of [2, 1, 1]) await desk.take({ jsonrpc: '2.0', id, result: {} }, 1)
    expect(taken).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })
})
