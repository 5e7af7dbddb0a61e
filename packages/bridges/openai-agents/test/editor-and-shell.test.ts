import { createEditor, createShell } from '@ws/bridge-openai-agents'
import { UserError } from '@openai/agents'
import { createWorkspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { checkSdk } from '../src/workspace.ts'
import { openFiles, openSite, project, protectDocs, sites } from '@ws/tests-support/bridges'
import { checkFramework } from '@ws/tools/bridge'

describe('the editor', () => {
  it('creates, updates, moves and deletes files', async () => {
    const workspace = await openFiles(project)
    const editor = createEditor(workspace)
    const created = await editor.createFile({ type: 'create_file', path: 'notes/a.md', diff: '+# A\n+text\n' })
    expect(created).toMatchObject({ status: 'completed' })
    expect(await workspace.readText('notes/a.md')).toBe('# A\ntext\n')
    await editor.updateFile({ type: 'update_file', path: '/src/more.txt', diff: '@@ one\n-two\n+2\n' })
    expect(await workspace.readText('src/more.txt')).toBe('one\n2\nthree\n')
    await editor.updateFile({ type: 'update_file', path: 'src/more.txt', moveTo: 'src/less.txt', diff: '' })
    expect(await workspace.exists('src/more.txt')).toBe(false)
    await editor.deleteFile({ type: 'delete_file', path: 'src/less.txt' })
    expect(await workspace.exists('src/less.txt')).toBe(false)
  })

  it.each([
    ['text at two places', { type: 'update_file', path: 'twice', diff: '-x\n+y' }, /found 2 times.*Next: shell/su],
    ['a missing file', { type: 'update_file', path: 'none', diff: '-x\n+y' }, /does not exist/u],
    ['a file that is there', { type: 'create_file', path: 'twice', diff: '+x' }, /exists already/u],
    ['a path outside', { type: 'create_file', path: '../x', diff: '+x' }, /above the root/u],
    ['a rule', { type: 'create_file', path: 'docs/x', diff: '+x' }, /another team.*Write below `notes`/su],
    ['a wrong shape', { type: 'update_file', path: 'twice', diff: 7 }, /`diff` must be text/u],
  ])('refuses %s, and says why', async (_, patch, words) => {
    const workspace = await openSite(sites[0]!, { ...project, twice: 'x\nx\n' }, { rules: [protectDocs] })
    const editor = createEditor(workspace)
    const apply = patch.type === 'create_file' ? editor.createFile : editor.updateFile
    const result = await apply(patch as never)
    expect(result).toMatchObject({ status: 'failed' })
    expect(result?.output).toMatch(words)
    expect(await workspace.readText('twice')).toBe('x\nx\n')
  })

  it('needs a workspace', () => {
    expect(() => createEditor({} as never)).toThrow(UserError)
    expect(() => createEditor({} as never)).toThrow(/pass the result of `createWorkspace`/u)
  })

  it('needs a version of the SDK that it was built for', () => {
    expect(() => checkSdk('createEditor', '0.21.0')).toThrow(UserError)
    expect(() => checkSdk('createEditor', '0.19.4')).toThrow(/0\.19\.4.*not supported.*\^0\.20\.0/u)
    checkSdk('createEditor', '0.20.7')
    const future = { name: '@openai/agents-core', from: '99.0.0', importer: import.meta.url }
    expect(() => checkFramework('createEditor', future)).toThrow(/version 0\.20\.\d+/u)
  })
})

for (const site of sites) {
  describeWith(site.needs, `the shell on ${site.name}`, { tags: site.tags }, () => {
    it('[LS13] keeps the shell between actions, if asked', async () => {
      const shell = createShell(await openSite(site), { shell: 'session' })
      await shell.run({ commands: ['mkdir -p d && cd d', 'x=1'] })
      const { output } = await shell.run({ commands: ['pwd', 'echo $x'] })
      expect(output.map(({ stdout }) => stdout)).toEqual([expect.stringMatching(/\/d\n$/u), '1\n'])
    })

    it('[PC7] runs commands on the files of the workspace', async () => {
      const workspace = await openSite(site, project)
      const shell = createShell(workspace)
      const { output } = await shell.run({ commands: ['cat src/answer.txt', 'echo a >b; echo bad >&2; exit 3'] })
      expect(output).toEqual([
        { stdout: 'answer=41\n', stderr: '', outcome: { type: 'exit', exitCode: 0 } },
        { stdout: '', stderr: 'bad\n', outcome: { type: 'exit', exitCode: 3 } },
      ])
      expect(await workspace.readText('b')).toBe('a\n')
    })

    it('ends a command that takes too long, and goes on', async () => {
      const shell = createShell(await openSite(site))
      const { output } = await shell.run({ commands: ['echo first; sleep 60', 'echo next'], timeoutMs: 10_000 })
      expect(output).toMatchObject([
        { stdout: 'first\n', outcome: { type: 'timeout' } },
        { stdout: 'next\n', outcome: { type: 'exit', exitCode: 0 } },
      ])
    })

    it('keeps the head and the tail of a long output, and tells its limit', async () => {
      const shell = createShell(await openSite(site))
      const result = await shell.run({ commands: ['echo begin; seq 1 9000; echo end'], maxOutputLength: 1_000 })
      expect(result.maxOutputLength).toBe(1_000)
      expect(result.output[0]?.stdout).toMatch(/^begin\n.*bytes.*end\n$/su)
      expect(result.output[0]?.stdout.length).toBeLessThan(1_300)
    })

    it('says which rule a failed command ran into', async () => {
      const shell = createShell(await openSite(site, project, { rules: [protectDocs] }))
      const { output } = await shell.run({ commands: ['echo x > docs/guide.md'] })
      expect(output[0]).toMatchObject({ outcome: { type: 'exit' } })
      expect(output[0]?.outcome).not.toMatchObject({ exitCode: 0 })
      expect(output[0]?.stderr).toMatch(/docs-are-written-elsewhere.*write below `notes`/su)
    })
  })
}

describe('the shell', () => {
  it('needs an executor', async () => {
    const workspace = await openFiles()
    expect(() => createShell(workspace)).toThrow(/has no executor.*pass `executors`/u)
  })

  it.each([{ commands: [] }, { commands: 'ls' }, {}])('refuses %j', async (action) => {
    const shell = createShell(await openSite(sites[0]!))
    await expect(shell.run(action as never)).rejects.toThrow(UserError)
    await expect(shell.run(action as never)).rejects.toThrow(/`commands`/u)
  })

  it('takes larger limits than it has for its own', async () => {
    const shell = createShell(await openSite(sites[0]!))
    const { output } = await shell.run({ commands: ['echo hi'], timeoutMs: 10 ** 9, maxOutputLength: 10 ** 9 })
    expect(output[0]?.stdout).toBe('hi\n')
  })

  it('ends with the signal', async () => {
    const abort = new AbortController()
    const shell = createShell(await openSite(sites[0]!), { signal: abort.signal })
    const running = shell.run({ commands: ['sleep 60'] })
    abort.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
  })

  it('tells a refused command, and runs the next', async () => {
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: (await sites[0]!.parts()).adapter }],
      executors: (await sites[0]!.parts()).executors,
    })
    await workspace.close()
    const { output } = await createShell(workspace).run({ commands: ['ls', 'pwd'] })
    expect(output).toMatchObject([{ outcome: { exitCode: 126 } }, { outcome: { exitCode: 126 } }])
    expect(output[0]?.stderr).toMatch(/closed/u)
  })
})
