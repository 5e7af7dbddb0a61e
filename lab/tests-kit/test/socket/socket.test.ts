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

  it('gives its own terminals to sessions: input, size, status, and the end of the time', async () => {
    const { createStore, dispose } = await create()
    try {
      const mounts = [{ at: '/workspace', adapter: await createStore('t1') }]
      await using workspace = await createWorkspace({ mounts, executors: [executor] })
      const command = 'echo started; read -r word; stty size; echo "got $word"; exit 7'
      const session = await workspace.openSession({ command, columns: 90, rows: 30 })
      const started = Promise.withResolvers<void>()
      session.onData(() => session.read().text.includes('started\r\n') && started.resolve(), { since: 0 })
      await started.promise
      session.resize(97, 29)
      await session.write('word\r')
      expect(await session.wait()).toMatchObject({ exitCode: 7, endedBy: 'program' })
      expect(session.read().text).toBe('started\r\nword\r\n29 97\r\ngot word\r\n')
      await expect(session.write('more')).rejects.toMatchObject({ code: 'ECLOSED' })
      const late = await workspace.openSession({ command: 'sleep 60', timeout: 1_000, login: false })
      expect(await late.wait()).toMatchObject({ endedBy: 'timeout' })
      const lost = await workspace.openSession({ command: 'sleep 60', login: false })
      machine.loseConnections()
      await expect(lost.wait()).rejects.toMatchObject({ code: 'EIO' })
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
