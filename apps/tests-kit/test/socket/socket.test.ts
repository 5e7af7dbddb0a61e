/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside } from '@ws/conformance'
import { testExecutor } from '@ws/conformance/vitest'
import { createWorkspace } from '@ws/core'
import { component, describeWith, onDisk } from '@ws/test-fixtures'
import { afterAll, expect, it } from 'vitest'

import { createSocketExecutor } from './executor.ts'
import { openMachine } from './machine.ts'

describeWith([component('bubblewrap')], 'a machine behind a socket, late and without signals', async () => {
  const machine = await openMachine()
  afterAll(() => machine[Symbol.asyncDispose]())
  const executor = createSocketExecutor(machine.port)
  const create = () => onDisk(executor, createLocalAdapter, storesBeside)

  testExecutor({ name: 'socket', create, roots: ['/workspace'] })

  it('that is lost ends its commands with an error that knows their output', async () => {
    const { createStore, dispose } = await create()
    try {
      const adapter = await createStore('t1')
      await using workspace = await createWorkspace({
        mounts: [{ at: '/workspace', adapter }],
        executors: [executor],
      })
      const running = await workspace.spawn('echo out; sleep 60', { shell: 'sh', login: false })
      for await (const chunk of running.stdout) {
        expect(Buffer.from(chunk).toString()).toBe('out\n')
        machine.loseConnections()
      }
      await expect(running.wait()).rejects.toMatchObject({ code: 'EIO' })
      expect(running.output().stdout).toBe('out\n')
      expect(await workspace.exec('echo again', { shell: 'sh', login: false })).toMatchObject({ stdout: 'again\n' })
    } finally {
      await dispose()
    }
  })

  it('that cannot be reached runs nothing, and the error names the executor', async () => {
    const gone = await openMachine()
    await gone[Symbol.asyncDispose]()
    const attached = await createSocketExecutor(gone.port).attach({ root: '/' as never, files: undefined as never })
    const request = { command: 'true', cwd: '/' as never, env: {}, login: false, killGrace: 50, maxOutputBytes: 100 }
    const plan = { root: '/' as never, binds: [], aliases: [], restrictions: [], renameBorders: [] }
    await expect(attached.spawn(request, plan)).rejects.toMatchObject({
      code: 'ENOEXEC',
      reason: expect.stringContaining('socket'),
    })
  })
})
