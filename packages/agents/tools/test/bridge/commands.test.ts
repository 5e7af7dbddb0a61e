import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, WorkspaceError } from '@ws/core'
import type { Workspace, WorkspaceOptions } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createTools } from '@ws/tools'
import { runCommand } from '@ws/tools/bridge'
import { expect, it, onTestFinished } from 'vitest'

async function open(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    executors: [createVirtualExecutor()],
    ...options,
  })
  onTestFinished(() => workspace.close())
  return workspace
}

it('gives both streams, the exit code, and nothing else', async () => {
  const workspace = await open()
  expect(await runCommand(workspace, 'echo out; echo err >&2; exit 3')).toMatchObject({
    exitCode: 3,
    stdout: 'out\n',
    stderr: 'err\n',
    output: 'out\nerr\n',
    truncated: false,
    timedOut: false,
    refused: false,
    notes: [],
  })
})

it('has the exit code 124 after a timeout, and says so', async () => {
  const workspace = await open()
  expect(await runCommand(workspace, 'echo begun; sleep 60', { timeout: 50 })).toMatchObject({
    exitCode: 124,
    timedOut: true,
    output: expect.stringMatching(/Note: the command was ended by its timeout; .*\n$/u),
  })
})

it('has the exit code 126 for a refused command, with the reason and the remedy', async () => {
  const workspace = await open({ rules: [rules.deny('/secret')] })
  expect(await runCommand(workspace, 'ls', { cwd: '/secret' })).toMatchObject({
    exitCode: 126,
    stdout: '',
    output: expect.stringMatching(/^EACCES: exec: `\/secret` .*; give a directory of the workspace as `cwd`\n$/u),
    refused: true,
  })
})

it('says which rule a failed command ran into, and how to go on', async () => {
  const workspace = await open({ rules: [rules.readOnly('/docs')] })
  const { output, stderr, exitCode } = await runCommand(workspace, 'echo x > docs')
  expect(exitCode).not.toBe(0)
  expect(output).toMatch(/\nNote: rule .* protects \/docs.*; write outside `\/docs`.*\n$/u)
  expect(stderr).toContain('Note: rule')
})

it('rejects without an executor, on a closed workspace, and after an abort', async () => {
  const files = await open({ executors: [] })
  await expect(runCommand(files, 'ls')).rejects.toMatchObject({
    code: 'ENOEXECUTOR',
    remedy: 'pass `executors: [createVirtualExecutor()]` to `createWorkspace`',
  })
  const closed = await open()
  await closed.close()
  await expect(runCommand(closed, 'ls')).rejects.toMatchObject({ code: 'ECLOSED' })
  const workspace = await open()
  const reason = new Error('stop')
  await expect(runCommand(workspace, 'ls', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

it('a command whose end the store refuses is answered with its output and the reason, never as a success', async () => {
  const adapter = createMemoryAdapter()
  adapter.beginCommand = async () => async () => {
    throw new WorkspaceError({
      code: 'ECLOSED',
      operation: 'lease',
      reason: 'is held by another process',
      remedy: 'wait',
    })
  }
  const workspace = await open({ mounts: [{ at: '/', adapter: () => adapter }] })
  for (const [command, exitCode] of [
    ['echo out', 1],
    ['echo out; exit 3', 3],
  ] as const) {
    const answer = await runCommand(workspace, command)
    expect(answer).toMatchObject({ exitCode, stdout: 'out\n', refused: false })
    expect(answer.stderr).toContain('is held by another process')
  }
  const { isError, text } = await createTools(workspace).run('execute', { command: 'echo out' })
  expect(isError).toBe(true)
  expect(text).toContain('is held by another process')
  expect(text).toContain('Exit code 0.\nout')
})
