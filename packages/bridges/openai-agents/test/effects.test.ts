import { Agent, applyPatchTool, Runner, shellTool } from '@openai/agents'
import type { RunResult } from '@openai/agents'
import { assistantMessage } from '@openai/agents/testing'
import { createApprovedTools } from '@ws/bridge-openai-agents'
import { openFiles, openUndoable, project } from '@ws/tests-support/bridges'
import { describe, expect, it, onTestFinished } from 'vitest'

import { commands, patch, playing } from './support/script.ts'
import type { Turn } from './support/script.ts'

const bad = 'sed -i s/41/42/ src/answer.txt; rm docs/guide.md; mkdir notes; echo ok > notes/a.md'
const end: Turn = () => [assistantMessage('the end')]

/** An app with an agent that plays these turns. */
async function openApp(turns: readonly Turn[], options: Parameters<typeof createApprovedTools>[1] = {}) {
  const workspace = await openUndoable(project)
  const tools = createApprovedTools(workspace, options)
  onTestFinished(() => tools.close())
  const { model, seen } = playing(turns)
  const agent = new Agent({ name: 'worker', model, tools: [shellTool(tools.shell), applyPatchTool(tools.applyPatch)] })
  const runner = new Runner({ tracingDisabled: true })
  const start = () => runner.run(agent, 'go')
  const goOn = ({ state }: Awaited<ReturnType<typeof start>>) => runner.run(agent, state)
  return { workspace, tools, seen, start, goOn }
}

/** The calls that need approval. */
function askedIn({ interruptions }: Pick<RunResult<unknown, never>, 'interruptions'>) {
  return interruptions.map((item) => ({ item, id: 'callId' in item.rawItem ? String(item.rawItem.callId) : '' }))
}

describe('[EF5] approval of effects', () => {
  it('shows a bad step, keeps half of it, and the model goes on', async () => {
    const file = { type: 'create_file', path: 'notes/b.md', diff: '+b\n' }
    const { workspace, tools, seen, start, goOn } = await openApp([
      () => commands('cat src/answer.txt', 'ls'),
      () => commands(bad, 'echo done'),
      () => patch(file),
      end,
    ])
    const first = await start()
    expect(seen[1]).toContain('answer=41')
    const [asked, ...others] = askedIn(first)
    expect(others).toEqual([])
    const pending = tools.pending(asked?.id ?? '')
    expect(pending?.changes.map(({ kind, path }) => `${kind} ${path}`)).toContain('deleted /docs/guide.md')
    expect(await pending?.diff({ path: 'src/answer.txt' })).toContain('+answer=42')
    await pending?.decide({ decision: 'keep', paths: ['src', 'notes'], message: 'Leave the docs alone.' })
    first.state.approve(asked!.item)

    const second = await goOn(first)
    expect(seen[2]).toContain('done')
    expect(seen[2]).toContain('Leave the docs alone.')
    expect(seen[2]).toContain('deleted /docs/guide.md')
    second.state.approve(askedIn(second)[0]!.item)
    expect((await goOn(second)).finalOutput).toBe('the end')
    expect(await workspace.readText('docs/guide.md')).toBe('# Guide\n')
    expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
    expect(await workspace.readText('notes/b.md')).toBe('b\n')
  })

  it('takes a rejected call back at the next call', async () => {
    const { workspace, seen, start, goOn } = await openApp([() => commands(bad), () => commands('ls docs'), end])
    const first = await start()
    first.state.reject(askedIn(first)[0]!.item, { message: 'not the docs' })
    expect((await goOn(first)).finalOutput).toBe('the end')
    expect(seen[1]).toContain('not the docs')
    expect(seen[2]).toContain('guide.md')
    expect(await workspace.exists('notes')).toBe(false)
  })

  it('runs no second call of a turn, and says when it can be made', async () => {
    const lines = ['echo x > a.txt', 'echo x > a.txt', 'echo > b.txt']
    const twice: Turn = () =>
      lines.map((line, index) => ({ type: 'shell_call', callId: `same-${index}`, action: { commands: [line] } }))
    const { workspace, seen, start, goOn } = await openApp([twice, () => commands('echo y > b.txt'), end])
    const first = await start()
    const asked = askedIn(first)
    expect(asked).toHaveLength(1)
    expect(await workspace.exists('b.txt')).toBe(false)
    first.state.approve(asked[0]!.item)
    const second = await goOn(first)
    expect(JSON.stringify(second.history)).toContain('make this call again after the answer to that call')
    second.state.approve(askedIn(second)[0]!.item)
    await goOn(second)
    expect(seen).toHaveLength(3)
    expect(await workspace.readText('a.txt')).toBe('x\n')
    expect(await workspace.readText('b.txt')).toBe('y\n')
  })

  it('decides at once by `onApproval`', async () => {
    const workspace = await openUndoable(project)
    await using tools = createApprovedTools(workspace)
    const { model, seen } = playing([() => commands(bad), end])
    const shell = shellTool({
      ...tools.shell,
      onApproval: async (_context, { rawItem }) => {
        await tools.pending('callId' in rawItem ? String(rawItem.callId) : '')?.decide({ decision: 'drop' })
        return { approve: false, reason: 'not this' }
      },
    })
    const agent = new Agent({ name: 'worker', model, tools: [shell] })
    const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, 'go')
    expect(finalOutput).toBe('the end')
    expect(seen[1]).toContain('not this')
    expect(await workspace.exists('notes')).toBe(false)
  })

  it('refuses a call whose changes were not shown', async () => {
    const workspace = await openUndoable(project)
    await using tools = createApprovedTools(workspace)
    const { output } = await tools.shell.shell.run({ commands: ['rm test.sh'] })
    expect(output).toMatchObject([{ outcome: { exitCode: 126 }, stderr: expect.stringContaining('were not shown') }])
    const patched = await tools.applyPatch.editor.deleteFile({ type: 'delete_file', path: 'test.sh' })
    expect(patched).toMatchObject({ status: 'failed' })
    expect(await workspace.exists('test.sh')).toBe(true)
  })

  it('needs commands and checkpoints', async () => {
    const workspace = await openFiles()
    expect(() => createApprovedTools(workspace)).toThrow(/executor/u)
    const files = await openUndoable({}, { checkpoints: undefined })
    expect(() => createApprovedTools(files)).toThrow(/keeps no checkpoints/u)
  })
})
