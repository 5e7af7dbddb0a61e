import { Command, MemorySaver } from '@langchain/langgraph'
import { createApprovedBackend } from '@ws/bridge-deepagents'
import { openFiles, openUndoable, project } from '@ws/tests-support/bridges'
import { createDeepAgent } from 'deepagents'
import { describe, expect, it, onTestFinished } from 'vitest'

import { ScriptedModel } from './support/script.ts'
import type { Next, Turn } from './support/script.ts'

const bad = 'sed -i s/41/42/ src/answer.txt; rm docs/guide.md; mkdir notes; echo ok > notes/a.md; echo done'
const run = (command: string): Turn => ({ name: 'execute', args: { command } })
const decisions = (...types: readonly object[]) => new Command({ resume: { decisions: types } })

/** An app with an agent that plays these turns. */
async function openApp(turns: readonly (Turn | Next)[], options: Parameters<typeof createApprovedBackend>[1] = {}) {
  const workspace = await openUndoable(project)
  const approved = createApprovedBackend(workspace, options)
  onTestFinished(() => approved.close())
  const seen: string[] = []
  const played = turns.map(
    (turn): Next =>
      (last) => {
        seen.push(last)
        return typeof turn === 'function' ? turn(last) : turn
      },
  )
  const model = new ScriptedModel(played)
  const { backend, interruptOn } = approved
  const checkpointer = new MemorySaver()
  const agent = createDeepAgent({ model, backend, interruptOn, checkpointer })
  const thread = { configurable: { thread_id: 'one' } }
  const start = () => agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, thread)
  const goOn = (command: Command) => agent.invoke(command, thread)
  return { workspace, approved, model, checkpointer, thread, seen, start, goOn }
}

/** The descriptions of the calls that wait. */
function askedIn(state: object): string[] {
  const interrupts = (state as { __interrupt__?: { value: { actionRequests: { description: string }[] } }[] })
    .__interrupt__
  return (interrupts ?? []).flatMap(({ value }) => value.actionRequests.map(({ description }) => description))
}

describe('[EF5] approval of effects', () => {
  it('shows a bad step, keeps half of it, and the model goes on', async () => {
    const { workspace, approved, seen, start, goOn } = await openApp([
      run('cat src/answer.txt'),
      run(bad),
      { name: 'write_file', args: { file_path: '/notes/b.md', content: 'b\n' } },
      { name: 'edit_file', args: { file_path: '/notes/b.md', old_string: 'b', new_string: 'c' } },
      { name: 'delete', args: { file_path: '/notes/a.md/' } },
      'the end',
    ])
    const [asked, ...others] = askedIn(await start())
    expect(others).toEqual([])
    expect(seen[1]).toContain('answer=41')
    expect(asked).toContain('deleted /docs/guide.md')
    expect(asked).toContain('+answer=42')
    await approved.pending('call-2')?.decide({ decision: 'keep', paths: ['src', 'notes'], message: 'Leave the docs.' })
    for (const path of ['/notes/b.md', '/notes/b.md', '/notes/a.md'])
      expect(askedIn(await goOn(decisions({ type: 'approve' })))).toEqual([expect.stringContaining(path)])
    const { messages } = await goOn(decisions({ type: 'approve' }))
    expect(messages.at(-1)?.text).toBe('the end')
    expect(seen[2]).toMatch(/^done\n.*Leave the docs\..*deleted \/docs\/guide\.md.*exit code 0/su)
    expect(seen.slice(3)).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^Successfully|^Deleted/u)))
    expect(await workspace.readText('docs/guide.md')).toBe('# Guide\n')
    expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
    expect(await workspace.readText('notes/b.md')).toBe('c\n')
    expect(await workspace.exists('notes/a.md')).toBe(false)
  })

  it('takes a rejected call back at the next call', async () => {
    const { workspace, seen, start, goOn } = await openApp([run(bad), run('ls docs'), 'the end'])
    await start()
    const { messages } = await goOn(decisions({ type: 'reject', message: 'not the docs' }))
    expect(messages.at(-1)?.text).toBe('the end')
    expect(seen[1]).toBe('not the docs')
    expect(seen[2]).toContain('guide.md')
    expect(await workspace.exists('notes')).toBe(false)
  })

  it('runs no call that was not shown', async () => {
    const { workspace, approved } = await openApp([])
    const backend = approved.backend({ toolCall: { id: 'call-1' } })
    expect(await backend.execute('rm test.sh')).toMatchObject({
      exitCode: 126,
      output: expect.stringContaining('were not shown'),
    })
    const refused = { error: expect.stringContaining('were not shown') }
    expect(await backend.write('/large_tool_results/../a.md', 'x')).toEqual(refused)
    expect(await backend.edit('/src/answer.txt', '41', '42')).toEqual(refused)
    expect(await backend.delete('/test.sh')).toEqual(refused)
    expect(await backend.uploadFiles([['/a.md', new Uint8Array(1)]])).toEqual([
      { path: '/a.md', error: 'permission_denied' },
    ])
    // a large result, which deepagents itself keeps
    const path = '/large_tool_results/a.txt'
    expect(await backend.write(path, 'x')).toMatchObject({ path })
    expect(await workspace.exists('test.sh')).toBe(true)
    expect(await workspace.exists('a.md')).toBe(false)
  })

  it('runs no second call of a step, and says when it can be made', async () => {
    const { workspace, approved } = await openApp([])
    const { when } = approved.interruptOn.execute
    const calls = ['a', 'b'].map((id) => ({ id, name: 'execute', args: { command: `echo x > ${id}.txt` } }))
    const step = { id: 'm1', tool_calls: calls }
    const ask = (toolCall: (typeof calls)[number]) => when({ toolCall, state: { messages: [step] } })
    expect([await ask(calls[0]!), await ask(calls[1]!)]).toEqual([true, false])
    expect([await ask(calls[0]!), await ask(calls[1]!)]).toEqual([true, false])
    const [one, two] = calls.map(({ id }) => approved.backend({ toolCall: { id } }))
    expect((await two!.execute('echo x > b.txt')).output).toContain('make this call again after the answer')
    expect(await one!.execute('echo y > a.txt')).toMatchObject({ exitCode: 126 })
    expect(await workspace.exists('a.txt')).toBe(false)
  })

  it('keeps no changes of an approval that another process asked for', async () => {
    const { workspace, approved, checkpointer, thread, start } = await openApp([run(bad)])
    await start()
    await approved.close()
    const { backend, interruptOn, close } = createApprovedBackend(workspace)
    onTestFinished(close)
    const seen: string[] = []
    const model = new ScriptedModel([(last) => (seen.push(last), 'the end')])
    await createDeepAgent({ model, backend, interruptOn, checkpointer }).invoke(decisions({ type: 'approve' }), thread)
    expect(seen).toEqual([expect.stringContaining('were not shown')])
    expect(await workspace.readText('docs/guide.md')).toBe('# Guide\n')
  })

  it('takes the changes back when no decision comes in time', async () => {
    const { workspace, seen, start, goOn } = await openApp([run(bad), 'the end'], { decideWithin: 5_000 })
    await start()
    await expect.poll(() => workspace.exists('notes')).toBe(false)
    await goOn(decisions({ type: 'approve' }))
    expect(seen[1]).toContain('no decision came within 5000 ms')
  })

  it('needs commands and checkpoints', async () => {
    const workspace = await openFiles()
    expect(() => createApprovedBackend(workspace)).toThrow(/ENOEXECUTOR/u)
    const files = await openUndoable({}, { checkpoints: undefined })
    expect(() => createApprovedBackend(files)).toThrow(/keeps no checkpoints/u)
  })
})
