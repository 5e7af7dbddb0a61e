import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { countListings, prepareListings } from './support/listings.ts'
import { needed } from './support/workbench.ts'

const traced = `import os, signal, subprocess, threading
child = os.fork()
if child == 0: signal.pause(); os._exit(0)
os.kill(child, signal.SIGSTOP); print(os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]))
os.kill(child, signal.SIGCONT); print(os.WIFCONTINUED(os.waitpid(child, os.WCONTINUED)[1]))
os.kill(child, signal.SIGTERM); print(os.WTERMSIG(os.waitpid(child, 0)[1]))
print(subprocess.run(['sh', '-c', 'kill -9 $$']).returncode, subprocess.run(['sh', '-c', 'exit 7']).returncode, flush=True)
threading.Thread(target=lambda: os.execvp('echo', ['echo', 'from a thread'])).start(); signal.pause()`

const unreadable = `import ctypes, os
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
print([x for x in os.listdir('/') if not x.startswith('some-')], os.listdir('/sub/1') == [] or len(os.listdir('/sub/1')), 'bin' in os.listdir('/usr'))`

describeWith([...needed.direct, component('python3')], 'listings at /', () => {
  let scratch: ScratchDirectory
  let workspace: Workspace
  beforeAll(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-listings-' })
    await mkdir(join(scratch.path, 'tool/bin'), { recursive: true })
    const root = await scratch.createDirectory('work')
    await copyFile('/usr/bin/ls', join(scratch.path, 'tool/bin/unreadable'))
    await chmod(join(scratch.path, 'tool/bin/unreadable'), 0o711)
    workspace = await createWorkspace({
      mounts: [
        {
          at: '/',
          adapter: () => createLocalAdapter({ root, owner: scratch.owner }),
        },
      ],
      executors: [
        createBubblewrapExecutor({ root: 'direct', tools: [{ host: join(scratch.path, 'tool'), at: '/opt/tool' }] }),
      ],
    })
    await prepareListings(workspace, { storm: false })
  })
  afterAll(async () => {
    await workspace.close()
    await scratch.remove()
  })

  it('[HO3] are complete while signals come', async () => {
    for (const [program, rounds] of Object.entries({ sh: 20, perl: 60, python: 60 })) {
      const counted = await countListings(workspace, program, rounds)
      expect(counted).toEqual({ [program]: { rounds, silent: 0, loud: 0 } })
    }
  })

  it('[HO3] are right for a process that others may not read', async () => {
    await workspace.write('/.kit/unreadable.py', unreadable)
    const { stdout, stderr } = await workspace.exec('python3 /.kit/unreadable.py')
    expect({ stdout: stdout.replace(`'sub', '.kit'`, `'.kit', 'sub'`), stderr }).toEqual({
      stdout: `['.kit', 'sub'] 20 True\n`,
      stderr: '',
    })
  })

  // The copy belongs to root, so that its user namespace is not the sandbox's. Other users cannot make one.
  it.runIf(process.getuid?.() === 0)('[HO3] end the command where they cannot be answered', async () => {
    const ended = workspace.exec('for i in 1 2; do unreadable /; done; echo survived')
    await expect(ended).rejects.toMatchObject({ code: 'EIO', reason: expect.stringContaining('no other may read') })
    expect((await workspace.exec('echo survived')).stdout).toBe('survived\n')
  })

  it('leave job control, exit statuses, fork, vfork and exec in a thread as they are', async () => {
    await workspace.write('/.kit/traced.py', traced)
    const { stdout, stderr } = await workspace.exec('python3 /.kit/traced.py')
    expect({ stdout, stderr }).toEqual({ stdout: 'True\nTrue\n15\n-9 7\nfrom a thread\n', stderr: '' })
  })
})
