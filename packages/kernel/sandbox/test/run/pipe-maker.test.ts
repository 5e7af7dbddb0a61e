import { readdirSync, readFileSync, readlinkSync, closeSync } from 'node:fs'
import { usePipes } from '../../src/run/pipe-maker.ts'
import { startProcess } from '../../src/run/start.ts'
import { component, describeWith } from '@ws/test-fixtures'
import { beforeEach, expect, it } from 'vitest'

/** They are kept for a moment when they have no user. */
const gone = { timeout: 15_000 }
/** Pipes that are kept ready. */
const spares = 8

/** Descriptors of pipes. Earlier tests of this worker may close theirs late, so those open before can be left out. */
function pipesOpen(except: readonly string[] = []): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const name = readlinkSync(`/proc/self/fd/${fd}`)
      return name.startsWith('pipe:') && !except.includes(name) ? [name] : []
    } catch {
      return []
    }
  })
}

/** The process that makes them. */
function isHelper(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    return parent === String(process.pid) && stat.includes('(perl)')
  } catch {
    return false
  }
}

const helpers = () => readdirSync('/proc').filter(isHelper)

describeWith(component('perl'), 'pipes', () => {
  beforeEach(() => expect.poll(helpers, gone).toEqual([]))

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
    await expect.poll(() => pipesOpen(before), gone).toEqual([])
  })

  it('that a process was not started with are closed', async () => {
    const others = pipesOpen()
    const pipes = usePipes()
    try {
      const warm = await pipes.take()
      if (warm === undefined) throw new Error('there is no pipe')
      closeSync(warm.read)
      closeSync(warm.write)
      await expect.poll(() => pipesOpen(others)).toHaveLength(2 * spares)
      const stdoutPipe = await pipes.take()
      expect(() => startProcess({ argv: ['relative'], stdoutPipe })).toThrow('EINVAL')
      const stopped = await pipes.take()
      expect(() => startProcess({ argv: ['/bin/true'], stdoutPipe: stopped, signal: AbortSignal.abort() })).toThrow()
      const missing = startProcess({ argv: ['/no/such/program'], stdoutPipe: await pipes.take() })
      await expect(missing.wait()).rejects.toMatchObject({ code: 'ENOEXEC' })
      await expect.poll(() => pipesOpen(others)).toHaveLength(2 * spares)
    } finally {
      pipes.close()
    }
  })

  it('are kept ready, few and always as many, and go with their last user', async () => {
    const others = pipesOpen()
    const [first, second] = [usePipes(), usePipes()]
    const taken = await Promise.all(Array.from({ length: 40 }, () => first.take()))
    for (const pair of taken) for (const fd of pair ? [pair.read, pair.write] : []) closeSync(fd)
    expect(taken).not.toContain(undefined)
    await expect.poll(() => pipesOpen(others)).toHaveLength(2 * spares)
    first.close()
    expect(await second.take().then((pair) => pair && [closeSync(pair.read), closeSync(pair.write)])).toHaveLength(2)
    second.close()
    await expect.poll(() => pipesOpen(others), gone).toEqual([])
  })

  it('outlast their last user for a moment, so that the next one finds them', async () => {
    const first = usePipes()
    const pair = await first.take()
    for (const fd of pair ? [pair.read, pair.write] : []) closeSync(fd)
    const [helper] = helpers()
    expect(helper).toBeDefined()
    first.close()
    first.close() // counts once
    const second = usePipes()
    const next = await second.take()
    for (const fd of next ? [next.read, next.write] : []) closeSync(fd)
    expect(helpers()).toEqual([helper])
    second.close()
    await expect.poll(helpers, gone).toEqual([])
  })
})
