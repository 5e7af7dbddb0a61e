import { SandboxExecutionError } from '@mastra/core/workspace'
import type { SandboxProcessManager } from '@mastra/core/workspace'
import { createMastraSandbox } from '@ws/bridge-mastra'
import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openFiles, openSite, project, protectDocs, sites, type Files } from '@ws/tests-support/bridges'

for (const site of sites) {
  describeWith(site.needs, `the sandbox on ${site.name}`, { tags: site.tags }, () => {
    async function open(files: Files = {}, options = {}, env = {}) {
      const workspace = await openSite(site, files, options)
      const sandbox = createMastraSandbox(workspace, { env })
      onTestFinished(() => sandbox._destroy())
      const processes = sandbox.processes as SandboxProcessManager
      const run = (command: string, args: string[] = [], more = {}) => sandbox.executeCommand?.(command, args, more)
      return { workspace, sandbox, processes, run }
    }

    it('[PC7] runs commands on the files of the workspace, with arguments, variables and a directory', async () => {
      const { run } = await open({ 'd/a': 'content\n' }, {}, { FIRST: 'one', SECOND: 'one' })
      expect(await run('cat d/a')).toMatchObject({ success: true, exitCode: 0, stdout: 'content\n', stderr: '' })
      expect(await run('echo', ['hello world', '$HOME'])).toMatchObject({ stdout: 'hello world $HOME\n' })
      const output = await run('echo "$FIRST $SECOND"; pwd', [], {
        env: { SECOND: 'two', NONE: undefined },
        cwd: '/tmp',
      })
      expect(output?.stdout).toBe('one two\n/tmp\n')
      expect(await run('echo problem >&2; exit 42')).toMatchObject({
        success: false,
        exitCode: 42,
        stderr: 'problem\n',
      })
      expect(await run('cat')).toMatchObject({ exitCode: 0, stdout: '' })
    })

    it('ends a command after its timeout, and with its signal', async () => {
      const { run, processes } = await open()
      expect(await run('sleep', ['300'], { timeout: 100 })).toMatchObject({ exitCode: 124, timedOut: true })
      const controller = new AbortController()
      const handle = await processes.spawn('sleep 300', { abortSignal: controller.signal })
      controller.abort()
      expect(await handle.wait()).toMatchObject({ success: false })
      expect(await run('sleep 300', [], { abortSignal: AbortSignal.abort() })).toMatchObject({ success: false })
    })

    it('says what the workspace refuses, and which rule a command ran into', async () => {
      const { run, workspace } = await open(project, { rules: [protectDocs] })
      await expect(run('ls', [], { cwd: 'missing' })).rejects.toThrow(SandboxExecutionError)
      await expect(run('ls', [], { cwd: '../..' })).rejects.toThrow(/EOUTSIDE/u)
      const { stderr } = (await run('echo x > docs/guide.md')) ?? {}
      expect(stderr).toContain('write below `notes`')
      expect(await workspace.readText('docs/guide.md')).toBe('# Guide\n')
    })

    it('ends a process that reads its input, though nothing is written', async () => {
      const { processes } = await open()
      const handle = await processes.spawn('echo a | cat; sort')
      if (site.processes) await handle.closeStdin()
      expect(await handle.wait()).toMatchObject({ exitCode: 0, stdout: 'a\n' })
    })

    it('follows a process: output, exit code, and callbacks', async () => {
      const { processes } = await open()
      const chunks: string[] = []
      const handle = await processes.spawn('echo "größe"; echo err >&2; exit 3', {
        onStdout: (text) => chunks.push(text),
        onStderr: (text) => chunks.push(text),
      })
      expect(Number(handle.pid)).toBeGreaterThan(0)
      expect(await handle.wait()).toMatchObject({ exitCode: 3, success: false, stdout: 'größe\n', stderr: 'err\n' })
      expect(await handle.wait()).toMatchObject({ exitCode: 3, stdout: 'größe\n' })
      expect(chunks.toSorted()).toEqual(['err\n', 'größe\n'])
      expect(handle.exitCode).toBe(3)
      expect(await handle.kill()).toBe(false)
      await expect(handle.sendStdin('x')).rejects.toThrow(/exited/u)
    })

    it('writes to the standard input of a process, and ends it', async () => {
      const { processes } = await open()
      const handle = await processes.spawn('cat')
      await handle.sendStdin('one\n')
      await handle.sendStdin('two\n')
      await handle.closeStdin()
      expect(await handle.wait()).toMatchObject({ exitCode: 0, stdout: 'one\ntwo\n' })
      const deaf = await processes.spawn('cat', { stdinMode: 'ignore' })
      expect(await deaf.wait()).toMatchObject({ exitCode: 0, stdout: '' })
    })

    it('lists, finds, ends and forgets processes', async () => {
      const { processes } = await open()
      const [one, two] = [await processes.spawn('sleep 300'), await processes.spawn('sleep 300')]
      expect(one.pid).not.toBe(two.pid)
      expect(await processes.list()).toEqual([
        { pid: one.pid, command: 'sleep 300', running: true },
        { pid: two.pid, command: 'sleep 300', running: true },
      ])
      expect((await processes.get(one.pid))?.pid).toBe(one.pid)
      expect(await processes.kill(one.pid)).toBe(true)
      expect((await one.wait()).success).toBe(false)
      expect(await processes.get(one.pid)).toBeUndefined()
      expect(await processes.kill('99999')).toBe(false)
    })

    it('is running after start, and ends its processes when it stops', async () => {
      const { sandbox, processes, workspace } = await open()
      await sandbox.start()
      expect(sandbox).toMatchObject({ status: 'running', provider: 'ws', workingDirectory: workspace.root })
      expect(await sandbox.getInfo?.()).toMatchObject({ id: sandbox.id, status: 'running' })
      await sandbox.snapshot()
      const handle = await processes.spawn('sleep 300')
      await sandbox._stop()
      expect(handle.exitCode).toBeGreaterThan(0)
      expect(sandbox.getInstructions?.()).toContain(`start in ${workspace.root}.`)
    })
  })
}

describe('bad input', () => {
  it('asks for a workspace, and for an executor', async () => {
    expect(() => createMastraSandbox(7 as never)).toThrow(/^EINVAL: createMastraSandbox: .*createWorkspace/u)
    const files = await openFiles()
    expect(() => createMastraSandbox(files)).toThrow(/^ENOEXECUTOR: createMastraSandbox: /u)
  })
})
