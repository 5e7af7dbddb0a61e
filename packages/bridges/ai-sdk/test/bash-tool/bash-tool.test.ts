import { generateText, isStepCount } from 'ai'
import { createSandbox } from '@ws/bridge-ai-sdk/bash-tool'
import { createWorkspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { createBashTool } from 'bash-tool'
import { describe, expect, it } from 'vitest'

import { features } from './features.ts'
import { playing } from './script.ts'
import type { Turn } from './script.ts'
import { openFiles, openSite, project, protectDocs, sites, testFeatures } from '@ws/tests-support/bridges'

const named = (seen: string): string => /[Ww]rite below `([^`]+)`/u.exec(seen)?.[1] ?? 'no remedy was given'

for (const site of sites) {
  describeWith(site.needs, `bash-tool on ${site.name}`, { tags: site.tags }, () => {
    it('lists, reads, edits, tests and follows a remedy', async () => {
      const workspace = await openSite(site, project, { rules: [protectDocs] })
      const { tools } = await createBashTool({ sandbox: createSandbox(workspace), destination: workspace.root })
      const turns: readonly Turn[] = [
        () => ({ tool: 'bash', input: { command: 'ls' } }),
        () => ({ tool: 'readFile', input: { path: 'src/answer.txt' } }),
        () => ({ tool: 'bash', input: { command: 'sh test.sh' } }),
        () => ({ tool: 'bash', input: { command: "sed -i 's/41/42/' src/answer.txt" } }),
        () => ({ tool: 'bash', input: { command: 'sh test.sh' } }),
        () => ({ tool: 'writeFile', input: { path: 'docs/done.md', content: '# Done\n' } }),
        (seen) => ({ tool: 'writeFile', input: { path: `${named(seen)}/done.md`, content: '# Done\n' } }),
        () => 'done',
      ]
      const { model, seen } = playing(turns)
      const { text } = await generateText({ model, tools, prompt: 'make the tests pass', stopWhen: isStepCount(20) })
      expect(text).toBe('done')
      expect(seen[1]).toContain('docs')
      expect(seen[2]).toContain('answer=41')
      expect(seen[3]).toContain('1 failed')
      expect(seen[5]).toContain('1 passed')
      expect(seen[6]).toContain('is written by another team')
      expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
      expect(await workspace.readText('notes/done.md')).toBe('# Done\n')
    })

    it('gives the outputs and the exit code, and takes text and bytes', async () => {
      const workspace = await openSite(site, project, { rules: [protectDocs] })
      const sandbox = createSandbox(workspace)
      await sandbox.writeFiles([
        { path: 'deep/er/a.txt', content: 'text\n' },
        { path: 'deep/b.bin', content: Buffer.from([0, 255, 10]) },
      ])
      expect(await sandbox.readFile('deep/er/a.txt')).toBe('text\n')
      expect([...(await workspace.read('deep/b.bin')).bytes]).toEqual([0, 255, 10])
      expect(await sandbox.executeCommand('cat deep/er/a.txt; echo bad >&2; exit 3')).toEqual({
        stdout: 'text\n',
        stderr: 'bad\n',
        exitCode: 3,
      })
      expect(await createSandbox(workspace, { timeout: 1_000 }).executeCommand('sleep 60')).toMatchObject({
        exitCode: 124,
        stderr: expect.stringContaining('timeout'),
      })
      expect(await sandbox.executeCommand('echo x >docs/guide.md')).toMatchObject({
        stderr: expect.stringContaining('write below `notes`'),
      })
    })
  })
}

describe('a sandbox', () => {
  it('refuses with the reason and the remedy', async () => {
    const sandbox = createSandbox(await openSite(sites[0]!, project, { rules: [protectDocs] }))
    await expect(sandbox.readFile('none')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(sandbox.readFile('../x')).rejects.toMatchObject({ code: 'EOUTSIDE' })
    await expect(sandbox.writeFiles([{ path: 'docs/x', content: '' }])).rejects.toMatchObject({
      code: 'EACCES',
      remedy: 'write below `notes`',
    })
    await expect(sandbox.writeFiles([{ path: 7 as never, content: '' }])).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('needs a workspace with an executor', async () => {
    const workspace = await openFiles()
    expect(() => createSandbox(workspace)).toThrow(/ENOEXECUTOR.*pass `executors`/u)
    expect(() => createSandbox({} as never)).toThrow(/createWorkspace/u)
  })

  it('ends with the signal', async () => {
    const abort = new AbortController()
    const sandbox = createSandbox(await openSite(sites[0]!), { signal: abort.signal })
    const running = sandbox.executeCommand('sleep 60')
    abort.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
  })

  it('says that the workspace is closed', async () => {
    const { adapter, executors } = await sites[0]!.parts()
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], executors })
    const sandbox = createSandbox(workspace)
    await workspace.close()
    await expect(sandbox.executeCommand('ls')).rejects.toMatchObject({ code: 'ECLOSED' })
  })
})

testFeatures('bash-tool', features)
