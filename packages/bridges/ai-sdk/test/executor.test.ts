/** @module-tag all */
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createSandboxExecutor, createSandboxSession } from '@ws/bridge-ai-sdk'
import { createWorkspace, rules, type Workspace, type WorkspaceOptions } from '@ws/core'
import { component, describeWith, until } from '@ws/test-fixtures'
import type { Experimental_SandboxSession } from 'ai'
import { expect, it, onTestFinished } from 'vitest'

import { openSite, sites, type Files } from '@ws/tests-support/bridges'

const bubblewrap = sites.find(({ at }) => at === '/workspace') ?? sites[0]

/** A sandbox that knows nothing of the workspace: a directory of its own, and real processes. */
async function openSandbox(): Promise<Experimental_SandboxSession> {
  if (bubblewrap === undefined) throw new Error('there is a site')
  return createSandboxSession(await openSite(bubblewrap))
}

async function open(files: Files = {}, options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const session = await openSandbox()
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createMemoryAdapter({ files }) }],
    executors: [createSandboxExecutor(session)],
    ...options,
  })
  onTestFinished(() => workspace.close())
  return workspace
}

describeWith([component('bubblewrap')], 'a workspace in memory whose commands run in a sandbox', () => {
  it('shows commands its files, and has what they change, at the same paths', async () => {
    const workspace = await open({ '/a.txt': 'one\n', '/src/größe.txt': 'two\n', '/gone.txt': '' })
    await workspace.createSymlink('/workspace/link', 'a.txt')
    const { stdout, exitCode, stderr } = await workspace.exec(
      'cat link src/*; echo three > src/new; echo 1 >> a.txt; rm gone.txt; mkdir -p x/y; ln -s y x/z; printf "#!/bin/sh\necho run\n" > p; chmod +x p; pwd',
    )
    expect({ stdout, exitCode, stderr }).toEqual({ stdout: 'one\ntwo\n/workspace\n', exitCode: 0, stderr: '' })
    expect(await workspace.readText('/workspace/a.txt')).toBe('one\n1\n')
    expect(await workspace.readText('/workspace/src/new')).toBe('three\n')
    expect(await workspace.exists('/workspace/gone.txt')).toBe(false)
    expect(await workspace.readSymlink('/workspace/x/z')).toBe('y')
    await workspace.write('/workspace/src/new', 'four\n')
    await workspace.delete('/workspace/x', { recursive: true })
    expect(await workspace.exec('cat src/new; ls; ./p')).toMatchObject({ stdout: 'four\na.txt\nlink\np\nsrc\nrun\n' })
  })

  it('changes what has other bytes of the same length', async () => {
    const workspace = await open({ '/a': 'x' })
    await workspace.exec('touch -r a t; printf y > a; touch -r t a')
    expect(await workspace.readText('/workspace/a')).toBe('y')
    await workspace.write('/workspace/a', 'z')
    expect((await workspace.exec('cat a')).stdout).toBe('z')
  })

  it('gives input, environment, streams, exit codes and the end by time', async () => {
    const workspace = await open()
    const told = await workspace.exec('cat; echo "$A" >&2; exit 3', { stdin: 'in', env: { A: 'b' } })
    expect(told).toMatchObject({ stdout: 'in', stderr: 'b\n', exitCode: 3, executor: 'sandbox' })
    const late = await workspace.exec('echo begun > a; sleep 60', { timeout: 1_000 })
    expect(late).toMatchObject({ timedOut: true, exitCode: null, exitStatus: 143 })
    expect(await workspace.readText('/workspace/a')).toBe('begun\n')
    const controller = new AbortController()
    const running = workspace.exec('echo begun; sleep 60', {
      signal: controller.signal,
      onOutput: () => controller.abort(new Error('enough')),
    })
    await expect(running).rejects.toThrow('enough')
  })

  it('refuses commands under rules, since the sandbox proves nothing, and keeps them all the same when acknowledged', async () => {
    const workspace = await open(
      { '/secret/key': 'hidden\n', '/docs/a': 'kept\n' },
      {
        rules: [
          rules.deny('/workspace/secret', { name: 'secret' }),
          rules.readOnly('/workspace/docs', { name: 'docs' }),
        ],
      },
    )
    await expect(workspace.exec('true')).rejects.toMatchObject({ code: 'EUNENFORCEABLE' })
    const run = (command: string) => workspace.exec(command, { acknowledge: ['secret', 'docs'] })
    expect(await run('cat secret/key docs/a')).toMatchObject({ stdout: 'kept\n', exitCode: 1 })
    const changed = await run('echo x > docs/a; echo y > free')
    expect(changed.exitCode).toBe(1)
    expect(changed.stderr).toContain('`/workspace/docs/a` was not made in the workspace')
    expect(await workspace.readText('/workspace/docs/a')).toBe('kept\n')
    expect(await workspace.readText('/workspace/free')).toBe('y\n')
    expect((await run('cat docs/a')).stdout).toBe('kept\n')
  })

  it('keeps a change that came through the file door while a command changed the same file', async () => {
    const workspace = await open({ '/a': 'old\n' })
    const running = await workspace.spawn('echo mine > a; echo ready; read line', { writableStdin: true })
    await until(() => running.output().stdout.includes('ready'))
    await workspace.write('/workspace/a', 'theirs\n')
    await running.writeInput('go\n')
    const { exitCode, stderr } = await running.wait()
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('`/workspace/a`') })
    expect(await workspace.readText('/workspace/a')).toBe('theirs\n')
    expect((await workspace.exec('cat a')).stdout).toBe('theirs\n')
  })

  it('begins in an empty directory only, and not at `/`', async () => {
    const session = await openSandbox()
    const executors = [createSandboxExecutor(session)]
    const adapter = () => createMemoryAdapter()
    const first = await createWorkspace({ mounts: [{ at: '/workspace', adapter }], executors })
    await expect(createWorkspace({ mounts: [{ at: '/workspace', adapter }], executors })).rejects.toThrow(
      /serves another workspace/u,
    )
    await first.close()
    await session.writeTextFile({ path: 'theirs', content: '' })
    await expect(createWorkspace({ mounts: [{ at: '/workspace', adapter }], executors })).rejects.toThrow(/not empty/u)
    await expect(createWorkspace({ mounts: [{ at: '/', adapter }], executors })).rejects.toThrow(/mount the workspace/u)
    expect(() => createSandboxExecutor({} as Experimental_SandboxSession)).toThrow(/sandbox session/u)
  })

  it('writes links as they are, which lead nowhere outside', async () => {
    const workspace = await open({ '/a': 'x' })
    await workspace.exec('ln -s /etc/passwd out; ln -s ../../etc up')
    await expect(workspace.read('/workspace/out')).rejects.toMatchObject({
      code: expect.stringMatching(/ENOENT|EOUTSIDE/u),
    })
    await expect(workspace.read('/workspace/up/passwd')).rejects.toMatchObject({
      code: expect.stringMatching(/ENOENT|EOUTSIDE/u),
    })
  })
})
