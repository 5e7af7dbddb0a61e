import { readdirSync, readlinkSync, closeSync } from 'node:fs'
import { usePipes, startProcess } from '@ws/process'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

function pipesOpen(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('pipe:')
    } catch {
      return false
    }
  }).length
}

describeWith(component('perl'), 'pipes', () => {
  it('can be opened by name, are taken many at a time, and are closed by the run', async () => {
    const pipes = usePipes()
    const before = pipesOpen()
    try {
      const results = await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const [stdoutPipe, errors, stdinPipe] = await Promise.all([pipes.take(), pipes.take(), pipes.take()])
          if (errors === undefined) throw new Error('there is no pipe')
          const running = startProcess({
            argv: ['/bin/sh', '-c', 'cat /dev/stdin > /dev/stdout; echo error > /proc/self/fd/7'],
            env: { PATH: '/usr/bin:/bin' },
            stdin: `given ${index}`,
            stdinPipe,
            stdoutPipe,
            extraFds: new Map([[7, errors]]),
          })
          let error = ''
          running.pipes.get(7)?.on('data', (chunk: Buffer) => (error += chunk.toString()))
          const { stdout, exitCode } = await running.wait()
          return { exitCode, stdout: stdout.text, error }
        }),
      )
      for (const [index, result] of results.entries())
        expect(result).toEqual({ exitCode: 0, stdout: `given ${index}`, error: 'error\n' })
    } finally {
      pipes.close()
    }
    await expect.poll(pipesOpen).toBeLessThanOrEqual(before)
  })

  it('that a process was not started with are closed', async () => {
    const pipes = usePipes()
    try {
      const warm = await pipes.take()
      for (const fd of warm ? [warm.read, warm.write] : []) closeSync(fd)
      const before = pipesOpen()
      const stdoutPipe = await pipes.take()
      expect(() => startProcess({ argv: ['relative'], stdoutPipe })).toThrow('EINVAL')
      const stopped = await pipes.take()
      expect(() => startProcess({ argv: ['/bin/true'], stdoutPipe: stopped, signal: AbortSignal.abort() })).toThrow()
      const missing = startProcess({ argv: ['/no/such/program'], stdoutPipe: await pipes.take() })
      await expect(missing.wait()).rejects.toMatchObject({ code: 'ENOEXEC' })
      await expect.poll(pipesOpen).toBe(before)
    } finally {
      pipes.close()
    }
  })
})
