import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk'
import { createClaudeTools } from '@ws/bridge-anthropic/agent-sdk'
import { rules } from '@ws/core'
import { openUndoable, project } from '@ws/tests-support/bridges'
import { describe, expect, it, vi } from 'vitest'

import { connect } from './support/connect.ts'

const bad = 'sed -i s/41/42/ src/answer.txt; rm docs/guide.md; echo done'
type Ask = NonNullable<NonNullable<Parameters<typeof createClaudeTools>[1]>['canUseTool']>

/** Plays Claude Code: asks by `options.canUseTool`, and calls the server's tool after an approval. */
async function open(canUseTool: Ask, options: Parameters<typeof openUndoable>[1] = {}) {
  const workspace = await openUndoable(project, options)
  const tools = createClaudeTools(workspace, { canUseTool })
  const client = await connect(tools)
  let calls = 0
  const ask = (command: string, signal = new AbortController().signal, name = 'mcp__ws__Bash') => {
    calls += 1
    const input = name === 'mcp__ws__Bash' ? { command } : { file_path: command }
    return (tools.options.canUseTool as CanUseTool)(name, input, {
      signal,
      toolUseID: `toolu_${calls}`,
      requestId: `${calls}`,
    })
  }
  const run = (command: string) => client.callTool({ name: 'Bash', arguments: { command } })
  const states = async () => [await workspace.readText('src/answer.txt'), await workspace.exists('docs/guide.md')]
  return { workspace, tools, client, ask, run, states }
}

const untouched = ['answer=41\n', true]

describe('[EF5] approval of effects by `canUseTool`', () => {
  it('leaves the changing tools out of the allowed ones', async () => {
    const { tools } = await open(async () => ({ behavior: 'allow' }))
    expect(tools.options.allowedTools).toEqual(expect.arrayContaining(['mcp__ws__Read', 'mcp__ws__Grep']))
    for (const name of ['Bash', 'Write', 'Edit']) expect(tools.options.allowedTools).not.toContain(`mcp__ws__${name}`)
    await tools.close()
  })

  it('shows the changes of a call, and keeps them with an approval', async () => {
    const canUseTool = vi.fn<Ask>(async (_tool, _input, { pending }) => {
      expect(pending?.changes.map(({ kind, path }) => `${kind} ${path}`)).toContain('deleted /docs/guide.md')
      expect(await pending?.diff({ path: 'src/answer.txt' })).toContain('-answer=41\n+answer=42')
      return { behavior: 'allow' }
    })
    const { tools, ask, run, states } = await open(canUseTool)
    expect(await ask(bad)).toEqual({ behavior: 'allow', updatedInput: { command: bad } })
    expect(await run(bad)).toMatchObject({ isError: false, content: [{ text: expect.stringContaining('done') }] })
    expect(canUseTool.mock.calls[0]).toMatchObject(['mcp__ws__Bash', { command: bad }, { toolUseID: 'toolu_1' }])
    expect(await states()).toEqual(['answer=42\n', false])
    // one approval is for one call
    expect(await run(bad)).toMatchObject({ isError: true })
    await tools.close()
  })

  it('keeps a part by `pending`, and tells the model which', async () => {
    const { tools, ask, run, states } = await open(async (_tool, _input, { pending }) => {
      await pending?.decide({ decision: 'keep', paths: ['src'], message: 'Leave the docs alone.' })
      return { behavior: 'allow' }
    })
    await ask(bad)
    const words = expect.stringMatching(/done.*kept a part.*Leave the docs alone\..*taken back:\ndeleted/su)
    expect(await run(bad)).toMatchObject({ content: [{ text: words }] })
    expect(await states()).toEqual(['answer=42\n', true])
    await tools.close()
  })

  it('keeps no changes of a second run that were not shown', async () => {
    const options = { rules: [rules.ask('docs/**')] }
    const { workspace, tools, ask, run } = await open(async (_tool, _input, { pending }) => {
      expect(pending?.asked).toMatchObject([{ path: '/docs/guide.md' }])
      await pending?.decide({ decision: 'keep', grant: true })
      return { behavior: 'allow' }
    }, options)
    expect(await ask(bad)).toMatchObject({ behavior: 'allow' })
    expect(await run(bad)).toMatchObject({ isError: true })
    expect(await workspace.readText('src/answer.txt')).toBe('answer=41\n')
    await tools.close()
  })

  it.each<[string, Ask, RegExp]>([
    [
      'a denial',
      async () => ({ behavior: 'deny', message: 'Not the docs.' }),
      /^Not the docs\.\nError: .*took them back/u,
    ],
    [
      'an exception',
      async () => Promise.reject(new Error('secret')),
      /^The approval failed, or gave no decision\.\nError: /u,
    ],
    ['no decision', async () => null, /gave no decision\.\nError: /u],
    ['a denial without words', async () => ({ behavior: 'deny' }) as never, /gave no decision/u],
    [
      'other arguments',
      async (_tool, input) => ({ behavior: 'allow', updatedInput: Object.assign(input, { command: 'ls' }) }),
      /^The approval changed the arguments/u,
    ],
  ])('takes all back after %s', async (_, canUseTool, words) => {
    const { tools, ask, run, states } = await open(canUseTool)
    const result = await ask(bad)
    expect(result).toEqual({ behavior: 'deny', message: expect.stringMatching(words) })
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(await states()).toEqual(untouched)
    expect(await run(bad)).toMatchObject({ isError: true })
    await tools.close()
  })

  it('takes all back after an abort, and goes on with the next call', async () => {
    const abort = new AbortController()
    const { tools, ask, run, states } = await open(async () => {
      abort.abort(new Error('interrupted'))
      return { behavior: 'allow' }
    })
    await expect(ask(bad, abort.signal)).rejects.toThrow('interrupted')
    expect(await states()).toEqual(untouched)
    expect(await run(bad)).toMatchObject({ isError: true })
    expect(await ask('echo 1 > new.txt')).toMatchObject({ behavior: 'allow' })
    await tools.close()
  })

  it('runs no call that nobody was asked about', async () => {
    const { tools, run, states } = await open(async () => ({ behavior: 'allow' }))
    expect(await run(bad)).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('not shown') }] })
    expect(await states()).toEqual(untouched)
    await tools.close()
  })

  it('does not ask about a call without changes, nor about tools that read', async () => {
    const canUseTool = vi.fn<Ask>()
    const { tools, client, ask, run } = await open(canUseTool)
    expect(await ask('cat src/answer.txt')).toMatchObject({ behavior: 'allow' })
    expect(await run('cat src/answer.txt')).toMatchObject({ content: [{ text: expect.stringContaining('answer=41') }] })
    const read = await client.callTool({ name: 'Read', arguments: { file_path: 'src/answer.txt' } })
    expect(read).toMatchObject({ content: [{ text: expect.stringContaining('answer=41') }] })
    expect(canUseTool).not.toHaveBeenCalled()
    await tools.close()
  })

  it('passes other tools on unchanged', async () => {
    const canUseTool = vi.fn<Ask>(async () => ({ behavior: 'deny', message: 'no' }))
    const { tools, ask } = await open(canUseTool)
    const { signal } = new AbortController()
    expect(await ask('x', signal, 'mcp__other__Bash')).toEqual({ behavior: 'deny', message: 'no' })
    expect(canUseTool.mock.calls).toEqual([
      ['mcp__other__Bash', { file_path: 'x' }, { signal, toolUseID: 'toolu_1', requestId: '1' }],
    ])
    await tools.close()
  })

  it('answers a call that comes while another waits, and gives equal calls their own answers', async () => {
    const asked = Promise.withResolvers<void>()
    const decision = Promise.withResolvers<{ behavior: 'allow' }>()
    const { tools, ask, run, workspace } = await open(() => {
      asked.resolve()
      return decision.promise
    })
    const line = 'echo x >> a.txt'
    const first = ask(line)
    await asked.promise
    await ask(line)
    expect(await run(line)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('again after') }],
    })
    decision.resolve({ behavior: 'allow' })
    await first
    expect(await run(line)).toMatchObject({ isError: false })
    expect(await workspace.readText('a.txt')).toBe('x\n')
    await tools.close()
  })

  it('refuses `approve` beside it', async () => {
    const workspace = await openUndoable(project)
    const approve = () => ({ decision: 'keep' }) as const
    const canUseTool: Ask = async () => ({ behavior: 'allow' })
    expect(() => createClaudeTools(workspace, { approve, canUseTool })).toThrow(/both decide/u)
  })
})
