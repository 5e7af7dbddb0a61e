import { createAiTools, createSandboxSession } from '@ws/bridge-ai-sdk'
import { describeWith } from '@ws/test-fixtures'
import { generateText, isStepCount, jsonSchema, tool, ToolLoopAgent } from 'ai'
import { describe, expect, it } from 'vitest'

import { features } from './support/features.ts'
import { lastResult, scriptedModel } from './support/script.ts'
import { openFiles, openSite, project, protectDocs, sites, testFeatures } from '@ws/tests-support/bridges'

for (const site of sites) {
  describeWith(site.needs, `an agent of the AI SDK on ${site.name}`, { tags: site.tags }, () => {
    it('lists, reads, edits, runs the tests, and follows the remedy of a refusal', async () => {
      const workspace = await openSite(site, project, { rules: [protectDocs] })
      await using ai = createAiTools(workspace, { face: 'split', ask: 'nothing' })
      const seen: string[] = []
      const see = (last: string) => void seen.push(last)
      const model = scriptedModel([
        { tool: 'list', input: { path: '.', depth: 2 } },
        (last) => (see(last), { tool: 'read', input: { path: 'src/answer.txt' } }),
        (last) => (see(last), { tool: 'execute', input: { command: 'sh test.sh' } }),
        (last) => (see(last), { tool: 'replace', input: { path: 'src/answer.txt', old: '41', new: '42' } }),
        (last) => (see(last), { tool: 'execute', input: { command: 'sh test.sh' } }),
        (last) => (see(last), { tool: 'write', input: { path: 'docs/done.md', content: 'done\n' } }),
        (last) => {
          see(last)
          const place = /write below `(\w+)`/u.exec(last)?.[1] ?? 'nowhere'
          return { tool: 'write', input: { path: `${place}/done.md`, content: 'done\n' } }
        },
        (last) => (see(last), 'The tests pass.'),
      ])
      const agent = new ToolLoopAgent({ model, tools: ai.tools, toolApproval: ai.toolApproval })
      const { text } = await agent.generate({ prompt: 'Make the tests pass, and leave a note.' })
      expect(text).toBe('The tests pass.')
      expect(seen).toEqual([
        expect.stringContaining('answer.txt'),
        expect.stringMatching(/^text: .*answer=41/u),
        expect.stringMatching(/^text: Exit code 1\.\n1 failed/u),
        expect.stringMatching(/^text: /u),
        expect.stringMatching(/^text: Exit code 0\.\n1 passed/u),
        // the rules denied it, before anybody was asked
        expect.stringMatching(/^execution-denied: EACCES: .*is written by another team.*; write below `notes`/u),
        expect.stringMatching(/^text: Created/iu),
      ])
      expect(await workspace.readText('notes/done.md')).toBe('done\n')
      expect(ai.journal().map(({ change }) => change)).toEqual(['executed', 'updated', 'executed', 'created'])
    })

    it('gives a sandbox session to tools that take one', async () => {
      const workspace = await openSite(site, project)
      const shell = tool({
        inputSchema: jsonSchema<{ command: string }>({ type: 'object', properties: { command: { type: 'string' } } }),
        execute: async ({ command }, { experimental_sandbox: sandbox }) => sandbox?.run({ command }),
      })
      const model = scriptedModel([{ tool: 'shell', input: { command: 'sh test.sh' } }, (last) => last])
      const { text } = await generateText({
        model,
        tools: { shell },
        prompt: 'Run the tests.',
        stopWhen: isStepCount(5),
        experimental_sandbox: createSandboxSession(workspace),
      })
      expect(text).toBe('json: {"exitCode":1,"stdout":"1 failed\\n","stderr":""}')
    })
  })
}

describe('tools', () => {
  it('gives the model errors with their remedy, and goes on', async () => {
    const workspace = await openFiles(project, { rules: [protectDocs] })
    await using ai = createAiTools(workspace, { face: 'split' })
    const model = scriptedModel([
      { tool: 'write', input: { path: 'docs/a.md', content: '' } },
      { tool: 'read', input: { file: 'src/answer.txt' } },
      { tool: 'read', input: { path: '../../etc/passwd' } },
      'done',
    ])
    const { steps } = await generateText({ model, tools: ai.tools, prompt: 'Go.', stopWhen: isStepCount(9) })
    expect(model.doGenerateCalls.slice(1).map(({ prompt }) => lastResult(prompt))).toEqual([
      expect.stringMatching(/^error-text: Error: .*docs\/a\.md.*Write below `notes`/su),
      expect.stringMatching(/^error-text: Error: .*`path`/su),
      expect.stringMatching(/^error-text: Error: .*root/su),
    ])
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ isError: true, data: { code: 'EACCES' } })
  })

  it('offers the tools of each face, with schemas that models take', async () => {
    const workspace = await openFiles()
    for (const face of ['file_system', 'split', 'claude-code', 'anthropic', 'openai'] as const) {
      await using ai = createAiTools(workspace, { face })
      const model = scriptedModel(['done'])
      await generateText({ model, tools: ai.tools, toolApproval: ai.toolApproval, prompt: 'Go.' })
      const sent = model.doGenerateCalls[0]?.tools ?? []
      expect(sent.map(({ name }) => name)).toEqual(Object.keys(ai.tools))
      for (const one of sent) expect(one).toMatchObject({ type: 'function', inputSchema: { type: 'object' } })
    }
  })

  it('[LS13] keeps the shell between calls, if asked', async () => {
    await using ai = createAiTools(await openSite(sites[0]!), { face: 'claude-code', shell: 'session' })
    const run = (command: string) =>
      ai.tools['Bash']?.execute?.({ command }, { toolCallId: '1', messages: [], context: {} })
    await run('mkdir -p d && cd d && x=1')
    expect(await run('pwd; echo $x')).toMatchObject({ text: expect.stringMatching(/\/d\n1$/u) })
  })

  it('ends a call with the run', async () => {
    const [memory] = sites
    if (memory === undefined) throw new Error('there is a site')
    const workspace = await openSite(memory)
    await using ai = createAiTools(workspace, { face: 'split' })
    const controller = new AbortController()
    const reason = new Error('stop')
    const call = { toolCallId: '1', messages: [], context: {}, abortSignal: controller.signal }
    const ended = ai.tools['execute']?.execute?.({ command: 'sleep 300' }, call)
    controller.abort(reason)
    await expect(ended).rejects.toBe(reason)
  })
})

describe('approval', () => {
  const ask = async (options: Parameters<typeof createAiTools>[1], name: string, input: unknown) => {
    const [memory] = sites
    if (memory === undefined) throw new Error('there is a site')
    const workspace = await openSite(memory, project, { rules: [protectDocs] })
    await using ai = createAiTools(workspace, options)
    return await ai.toolApproval[name]?.(input, { toolCallId: '1', messages: [] })
  }

  it('asks the user about changes, not about reads, and never about what is refused anyway', async () => {
    const face = 'split'
    expect(await ask({ face }, 'read', { path: 'docs/guide.md' })).toBe('not-applicable')
    expect(await ask({ face }, 'list', {})).toBe('not-applicable')
    expect(await ask({ face }, 'write', { path: 'notes/a.md', content: '' })).toBe('user-approval')
    expect(await ask({ face }, 'execute', { command: 'ls' })).toBe('user-approval')
    for (const [name, input] of [
      ['write', { path: 'docs/a.md', content: '' }],
      ['replace', { path: '/docs/guide.md', old: 'a', new: 'b' }],
      ['move', { from: 'src/answer.txt', to: 'docs/answer.txt' }],
      ['delete', { path: 'docs/guide.md' }],
      ['read', { path: '../../etc/passwd' }],
    ] as const) {
      expect(await ask({ face, ask: 'nothing' }, name, input), name).toMatchObject({ type: 'denied' })
    }
  })

  it('asks about commands only, or about nothing', async () => {
    const face = 'claude-code'
    expect(await ask({ face, ask: 'commands' }, 'Write', { file_path: 'a', content: '' })).toBe('not-applicable')
    expect(await ask({ face, ask: 'commands' }, 'Bash', { command: 'ls' })).toBe('user-approval')
    expect(await ask({ face, ask: 'nothing' }, 'Bash', { command: 'ls' })).toBe('not-applicable')
  })

  it('holds a call until the user has said yes, and judges it again then', async () => {
    const workspace = await openFiles(project)
    await using ai = createAiTools(workspace, { face: 'split' })
    const model = scriptedModel([{ tool: 'write', input: { path: 'notes/a.md', content: 'x' } }])
    const options = { model, tools: ai.tools, toolApproval: ai.toolApproval }
    const first = await generateText({ ...options, prompt: 'Go.', stopWhen: isStepCount(3) })
    expect(await workspace.exists('notes/a.md')).toBe(false)
    const request = first.content.find(({ type }) => type === 'tool-approval-request')
    if (request?.type !== 'tool-approval-request') throw new Error('the user was not asked')
    await generateText({
      ...options,
      messages: [
        { role: 'user', content: 'Go.' },
        ...first.response.messages,
        {
          role: 'tool',
          content: [{ type: 'tool-approval-response', approvalId: request.approvalId, approved: true }],
        },
      ],
    })
    expect(await workspace.readText('notes/a.md')).toBe('x')
  })
})

describe('bad input', () => {
  it('refuses a value that is not a workspace, and options that are not known', async () => {
    expect(() => createAiTools(undefined as never)).toThrow(/^EINVAL: createAiTools: .*createWorkspace/u)
    const workspace = await openFiles()
    expect(() => createAiTools(workspace, { ask: 'sometimes' as never })).toThrow(/`ask` must be one of `nothing`/u)
    expect(() => createAiTools(workspace, { face: 'round' as never })).toThrow(/`face` must be one of/u)
  })
})

testFeatures('AI SDK', features)
