import { once } from 'node:events'

import { createAiTools } from '@ws/bridge-ai-sdk'
import type { AiTools } from '@ws/bridge-ai-sdk'
import { rules } from '@ws/core'
import { openFiles, openUndoable, project } from '@ws/tests-support/bridges'
import { generateText, isStepCount } from 'ai'
import type { ModelMessage } from 'ai'
import { describe, expect, it } from 'vitest'

import { lastResult, scriptedModel } from './support/script.ts'
import type { Turn } from './support/script.ts'

const bad = 'sed -i s/41/42/ src/answer.txt; rm docs/guide.md; mkdir notes; echo ok > notes/a.md; echo done'

/** An app: shows the calls that need approval, and goes on with the answers. */
function openApp(ai: AiTools, turns: readonly Turn[]) {
  const model = scriptedModel(turns)
  const messages: ModelMessage[] = [{ role: 'user', content: 'Go.' }]
  /** Goes on with a decision about each request, until the model ends or asks again. */
  const goOn = async (approved?: boolean, reason?: string) => {
    const parts = messages.flatMap(({ role, content }) =>
      role === 'assistant' && Array.isArray(content) ? content : [],
    )
    const answers = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []))
    const answered = answers.flatMap((part) => (part.type === 'tool-approval-response' ? [part.approvalId] : []))
    const content = parts
      .flatMap((part) => (part.type === 'tool-approval-request' ? [part.approvalId] : []))
      .filter((approvalId) => !answered.includes(approvalId))
      .map((approvalId) => ({
        type: 'tool-approval-response' as const,
        approvalId,
        approved: approved === true,
        ...(reason !== undefined && { reason }),
      }))
    if (content.length > 0) messages.push({ role: 'tool', content })
    const { tools, toolApproval } = ai
    const result = await generateText({ model, tools, toolApproval, messages, stopWhen: isStepCount(9) })
    messages.push(...result.responseMessages)
    const requests = result.content.filter((part) => part.type === 'tool-approval-request' && part.isAutomatic !== true)
    return { text: result.text, requests }
  }
  const seen = () => model.doGenerateCalls.map(({ prompt }) => lastResult(prompt))
  return { goOn, seen, messages }
}

describe('[EF5] approval of effects', () => {
  it('shows a bad step, keeps half of it, and the model goes on', async () => {
    const workspace = await openUndoable(project)
    await using ai = createAiTools(workspace, { face: 'split', ask: 'effects' })
    const { goOn, seen } = openApp(ai, [
      { tool: 'execute', input: { command: 'cat src/answer.txt' } },
      { tool: 'execute', input: { command: bad } },
      { tool: 'write', input: { path: 'notes/b.md', content: 'b' } },
      'the end',
    ])
    const first = await goOn()
    // a command that changes nothing is not asked about
    expect(seen()).toEqual(['', expect.stringMatching(/^text: Exit code 0\.\nanswer=41/u)])
    expect(first.requests).toMatchObject([
      { toolCall: { toolCallId: 'call-2' }, reason: expect.stringMatching(/^`execute` changed these files:\n/u) },
    ])
    expect(first.requests[0]).toMatchObject({ reason: expect.stringContaining('deleted /docs/guide.md') })
    const pending = ai.pending('call-2')
    expect(pending).toMatchObject({ tool: 'execute', input: { command: bad } })
    expect(await pending?.diff({ path: 'src/answer.txt' })).toContain('-answer=41\n+answer=42')
    await pending?.decide({ decision: 'keep', paths: ['src', 'notes'], message: 'Leave the docs alone.' })
    expect(await workspace.exists('docs/guide.md')).toBe(true)

    const second = await goOn(true)
    expect(seen().at(-1)).toMatch(
      /^text: Exit code 0\.\ndone\n.*kept a part.*Leave the docs alone\..*taken back:\ndeleted/su,
    )
    expect(second.requests).toMatchObject([{ toolCall: { toolCallId: 'call-3' } }])
    expect((await goOn(true)).text).toBe('the end')
    expect(seen().at(-1)).toMatch(/^text: Created/u)
    expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
    expect(await workspace.readText('notes/b.md')).toBe('b')
  })

  it('takes a denied call back at the next call', async () => {
    const workspace = await openUndoable(project)
    await using ai = createAiTools(workspace, { face: 'split', ask: 'effects' })
    const { goOn, seen } = openApp(ai, [
      { tool: 'execute', input: { command: bad } },
      { tool: 'execute', input: { command: 'ls docs' } },
      'the end',
    ])
    await goOn()
    expect((await goOn(false, 'no')).text).toBe('the end')
    expect(seen()).toEqual(['', 'execution-denied: no', expect.stringContaining('guide.md')])
    expect(await workspace.exists('notes')).toBe(false)
    expect(ai.pending('call-1')).toBeUndefined()
  })

  it('runs no second call of a step, and says when it can be made', async () => {
    const workspace = await openUndoable(project)
    await using ai = createAiTools(workspace, { face: 'split', ask: 'effects' })
    const write = (path: string) => ({ tool: 'write', input: { path, content: 'x' } })
    const { goOn, seen, messages } = openApp(ai, [
      [write('a.txt'), write('b.txt'), { tool: 'read', input: { path: 'test.sh' } }],
      write('b.txt'),
      'the end',
    ])
    const { requests } = await goOn()
    expect(requests).toMatchObject([{ toolCall: { toolCallId: 'call-1' } }])
    expect(await workspace.exists('b.txt')).toBe(false)
    await goOn(true)
    expect(JSON.stringify(messages)).toContain('make this call again after the answer to that call')
    expect((await goOn(true)).text).toBe('the end')
    expect(seen().at(-1)).toMatch(/^text: Created/u)
    expect(await workspace.exists('a.txt')).toBe(true)
    expect(await workspace.exists('b.txt')).toBe(true)
  })

  it('refuses an approved call whose changes were not shown, or are gone', async () => {
    const workspace = await openUndoable(project)
    const turns: readonly Turn[] = [{ tool: 'write', input: { path: 'a.txt', content: 'x' } }, 'the end']
    const first = createAiTools(workspace, { face: 'split', ask: 'effects' })
    const { goOn, messages } = openApp(first, turns)
    await goOn()
    await first.close()
    expect(await workspace.exists('a.txt')).toBe(false)
    // another process has the conversation, and not the changes
    await using ai = createAiTools(workspace, { face: 'split', ask: 'effects' })
    const other = openApp(ai, ['the end'])
    other.messages.splice(0, 1, ...messages)
    await other.goOn(true)
    expect(other.seen()).toEqual([
      expect.stringMatching(/^error-text: Error: The changes of this call were not shown/u),
    ])
    expect(await workspace.exists('a.txt')).toBe(false)
    // without `toolApproval`, no call is shown
    const call = { toolCallId: 'x', messages: [], context: {} }
    const answer = await ai.tools['write']?.execute?.({ path: 'a.txt', content: 'x' }, call)
    expect(answer).toMatchObject({ isError: true })
    expect(await workspace.exists('a.txt')).toBe(false)
  })

  it('takes back a call that nobody decides about, and tells the model', async () => {
    const workspace = await openUndoable(project)
    await using ai = createAiTools(workspace, { face: 'split', ask: 'effects', decideWithin: 20 })
    const { goOn, seen } = openApp(ai, [{ tool: 'write', input: { path: 'a.txt', content: 'x' } }, 'the end'])
    await goOn()
    const late = ai.pending('call-1')?.signal
    if (late?.aborted === false) await once(late, 'abort')
    await goOn(true)
    expect(seen().at(-1)).toMatch(/^error-text: .*no decision came within 20 ms/u)
    expect(await workspace.exists('a.txt')).toBe(false)
  })

  it('[EF6] shows what a rule refused that asks, and the changes after a grant', async () => {
    const workspace = await openUndoable(project, { rules: [rules.ask('*.pem')] })
    await using ai = createAiTools(workspace, { face: 'split', ask: 'effects' })
    const key = (path: string) => ({ tool: 'write', input: { path, content: 'key' } })
    const { goOn, seen } = openApp(ai, [key('a.pem'), key('b.pem'), 'the end'])
    const { requests } = await goOn()
    expect(requests).toMatchObject([{ reason: expect.stringContaining('/a.pem (rule ask(*.pem))') }])
    const again = await ai.pending('call-1')?.decide({ decision: 'keep', grant: true })
    expect(again?.changes).toMatchObject([{ kind: 'created', path: '/a.pem' }])
    await again?.decide({ decision: 'keep' })
    await goOn(true)
    expect(seen().at(-1)).toMatch(/^text: Created/u)
    // the grant was for one call, and an approval alone keeps no changes that were not shown
    expect(await ai.pending('call-2')?.decide({ decision: 'keep', grant: true })).toBeDefined()
    await goOn(true)
    expect(seen().at(-1)).toMatch(/^error-text: .*took them back/u)
  })

  it('[EF6] leaves a refusal by a rule that asks as it is, where nobody can grant it', async () => {
    const workspace = await openUndoable(project, { rules: [rules.ask('*.pem')] })
    await using ai = createAiTools(workspace, { face: 'split', ask: 'nothing' })
    const { goOn, seen } = openApp(ai, [{ tool: 'write', input: { path: 'a.pem', content: 'key' } }, 'the end'])
    await goOn()
    expect(seen().at(-1)).toMatch(/^execution-denied: EACCES: .*ask the user to allow it/u)
  })

  it('asks by `approve` where one is given', async () => {
    const workspace = await openUndoable(project)
    const approve = () => ({ decision: 'keep', paths: ['notes'] }) as const
    await using ai = createAiTools(workspace, { face: 'split', ask: 'nothing', approve })
    const { goOn, seen } = openApp(ai, [{ tool: 'execute', input: { command: bad } }, 'the end'])
    expect((await goOn()).text).toBe('the end')
    expect(seen().at(-1)).toContain('kept a part')
    expect(await workspace.readText('src/answer.txt')).toBe('answer=41\n')
  })

  it('needs checkpoints, and one way of asking', async () => {
    expect(() => createAiTools(undefined as never)).toThrow()
    const workspace = await openFiles()
    expect(() => createAiTools(workspace, { ask: 'effects' })).toThrow(/keeps no checkpoints/u)
    const approve = () => ({ decision: 'keep' }) as const
    expect(() => createAiTools(workspace, { ask: 'effects', approve })).toThrow(/both decide/u)
  })
})
