import { isWorkspaceError } from '@ws/core'
import { createMarker, createScratchDirectory, ordinaryOwner, until, withTimeToBegin } from '@ws/test-fixtures'
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { usePipes } from '../../src/run/pipe-maker.ts'
import { startProcess } from '../../src/run/start.ts'
import type { ProcessResult, RunningProcess, StartProcessOptions } from '../../src/run/types.ts'

const path = { PATH: '/usr/bin:/bin' }
const sh = (script: string, options: Partial<StartProcessOptions> = {}) =>
  startProcess({ argv: ['/bin/sh', '-c', script], env: path, ...options })

describe('startProcess', () => {
  it('gives exit status, output and nothing else; a non-zero exit does not reject', async () => {
    const result = await sh('echo out; echo err >&2; exit 3').wait()
    expect(result).toMatchObject({ exitCode: 3, signal: null, timedOut: false, survivors: false })
    expect([result.stdout.text, result.stderr.text]).toEqual(['out\n', 'err\n'])
  })

  it('tells the signal that ended it', async () => {
    expect(await sh('kill -USR1 $$').wait()).toMatchObject({ exitCode: null, signal: 'SIGUSR1' })
  })

  it('passes arguments, working directory and environment byte for byte', async () => {
    await using scratch = await createScratchDirectory()
    const words = ['a b', '', "'", '$HOME', '\n', '-é', '*']
    const argv = ['/bin/sh', '-c', 'pwd; echo "$X"; printf "%s|" "$@"', 'sh', ...words]
    const { stdout } = await startProcess({ argv, cwd: scratch.path, env: { X: 'a=b' } }).wait()
    expect(stdout.text).toBe(`${scratch.path}\na=b\n${words.join('|')}|`)
  })

  it('rejects with ENOEXEC for a missing program and a missing directory, and names no host path', async () => {
    const missing = startProcess({ argv: ['/usr/bin/nonexistent'] }).wait()
    await expect(missing).rejects.toSatisfy((error) => isWorkspaceError(error, 'ENOEXEC'))
    await expect(missing).rejects.not.toThrow('/usr')
    await expect(sh('true', { cwd: '/usr/nonexistent' }).wait()).rejects.toThrow('working directory is missing')
    await expect(startProcess({ argv: ['/etc/passwd'] }).wait()).rejects.toThrow('EACCES')
  })

  it('answers a wrong argument with EINVAL and starts nothing', () => {
    const wrong: Partial<StartProcessOptions>[] = [
      { argv: [] },
      { argv: ['sh'] },
      { argv: ['/bin/sh', 'a\0'] },
      { cwd: 'relative' },
      { env: { 'a=b': '' } },
      { timeout: 0 },
      { timeout: Number.NaN },
      { maxOutputBytes: -1 },
      { uid: 1 },
      { extraFds: new Map([[2, 'null']]) },
    ]
    for (const options of wrong)
      expect(() => sh('true', options), JSON.stringify(options)).toThrow(
        expect.toSatisfy((e) => isWorkspaceError(e, 'EINVAL')),
      )
  })

  it('an argument beyond the kernel’s limit is ENOEXEC', async () => {
    const start = async () => startProcess({ argv: ['/bin/true', 'x'.repeat(200_000)] }).wait()
    await expect(start()).rejects.toSatisfy((error) => isWorkspaceError(error, 'ENOEXEC'))
  })

  it('feeds text, bytes and streams; without input, reading ends at once', async () => {
    async function* chunks() {
      yield 'a'
      yield Buffer.from('bé')
    }
    for (const stdin of ['abé', Buffer.from('abé'), chunks()])
      expect((await sh('cat', { stdin }).wait()).stdout.text).toBe('abé')
    expect((await sh('cat').wait()).stdout.text).toBe('')
  })

  it('a process that never reads its input neither hangs nor crashes the caller, and its source is closed', async () => {
    let closed = false
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(65_536)
      } finally {
        closed = true
      }
    }
    expect(await sh('exit 0', { stdin: Buffer.alloc(4_000_000) }).wait()).toMatchObject({ exitCode: 0 })
    expect(await sh('exit 0', { stdin: endless() }).wait()).toMatchObject({ exitCode: 0 })
    await until(() => closed)
  })

  it('lets the caller talk to it', async () => {
    await using running = sh('while read line; do echo "got $line"; done', { stdin: 'pipe', output: 'stream' })
    running.stdin?.write('one\n')
    const [chunk] = await once(running.stdout ?? expect.fail(), 'data')
    expect(String(chunk)).toBe('got one\n')
    running.stdin?.end()
    expect(await running.wait()).toMatchObject({ exitCode: 0 })
  })

  it('streams with backpressure: who does not read makes the process wait', async () => {
    await using running = sh('dd if=/dev/zero bs=65536 count=200 2>/dev/null; echo done >&2', { output: 'stream' })
    let bytes = 0
    let finished = false
    running.stderr?.on('data', () => (finished = true))
    await new Promise((resolve) => setTimeout(resolve, 100)) // no event shows that nothing happens
    expect(finished).toBe(false)
    for await (const chunk of running.stdout ?? expect.fail()) bytes += chunk.length
    await running.wait()
    expect(bytes).toBe(200 * 65_536)
  })

  it('a listener sees every byte in order, also a slow one', async () => {
    const seen: Uint8Array[] = []
    const onStdout = async (chunk: Uint8Array) => {
      seen.push(Buffer.from(chunk))
      await new Promise((resolve) => setTimeout(resolve, 40)) // longer than the drain grace
    }
    const { stdout } = await sh('seq 1 60000', { onStdout, drainGrace: 10, maxOutputBytes: 2 ** 20 }).wait()
    expect(Buffer.concat(seen).toString()).toBe(stdout.text)
    expect(stdout.text.endsWith('60000\n')).toBe(true)
  })

  it('keeps memory constant for a loud process', async () => {
    const result = await sh('dd if=/dev/zero bs=1M count=100 2>/dev/null', { maxOutputBytes: 1000 }).wait()
    expect(result.stdout).toMatchObject({
      totalBytes: 100 * 2 ** 20,
      truncated: true,
      omittedBytes: 100 * 2 ** 20 - 1000,
    })
  })

  it('gives descriptors as bytes, null, pipe and own ones', async () => {
    const own = openSync('/etc/hostname', 'r')
    const extraFds = new Map<number, Uint8Array | 'null' | 'pipe' | number>([
      [5, Buffer.from('five')],
      [6, 'null'],
      [7, 'pipe'],
      [8, own],
    ])
    await using running = sh('cat <&5; cat <&6; cat <&8; echo seven >&7', { extraFds })
    const [answer] = await once(running.pipes.get(7) ?? expect.fail(), 'data')
    expect(String(answer)).toBe('seven\n')
    expect((await running.wait()).stdout.text).toBe(`five${await readFile('/etc/hostname', 'utf8')}`)
  })

  it('[RP16] descriptors that this process inherited do not reach a child', async () => {
    // A parent that leaks a descriptor into Node, which then starts a process.
    const source = new URL('../../src/index.ts', import.meta.url).href
    const program = `
      const { startProcess } = await import(${JSON.stringify(source)})
      const { stdout } = await startProcess({ argv: ['/bin/sh', '-c', 'readlink /proc/self/fd/77'] }).wait()
      process.stdout.write(stdout.text)`
    const script = 'exec 77</etc/hostname; exec "$@"'
    const node = [process.execPath, '--conditions=@ws/source', '--input-type=module', '-e', program]
    const argv = ['/bin/bash', '-c', script, 'bash', ...node]
    const { stdout, stderr } = await startProcess({ argv, env: path }).wait()
    expect(stderr.text).toBe('')
    expect(stdout.text).toBe('/dev/null\n')
  })

  it.runIf(process.getuid?.() === 0)('as root drops uid, gid and groups', async () => {
    const { stdout } = await sh('id -u; id -g; id -G', ordinaryOwner()).wait()
    expect(stdout.text).toBe('1000\n1000\n1000\n')
  })
})

/** The result of a process that says that it is ready, and that its timeout ends later. */
const endedWhenReady = (start: (timeout: number) => RunningProcess): Promise<ProcessResult> =>
  withTimeToBegin(
    200,
    (timeout) => start(timeout).wait(),
    ({ stdout }) => stdout.text.includes('ready'),
  )

describe('the end of a process', () => {
  it('a timeout ends group, sessions and processes that ignore TERM', async () => {
    const { env, survivors } = createMarker()
    const script =
      'sleep 60 & setsid sleep 60 & setsid sh -c \'trap "" TERM; sleep 60; sleep 60\' & trap "" TERM; echo ready; while :; do sleep 60; done'
    const result = await endedWhenReady((timeout) => sh(script, { env, timeout, killGrace: 100 }))
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true })
    expect(survivors()).toEqual([])
  })

  it('what ignores TERM is killed after the grace, also when the main process has gone', async () => {
    const { env, survivors } = createMarker()
    const script = `setsid sh -c 'trap "" TERM; while :; do sleep 60; done' >/dev/null 2>&1 & sleep 60`
    const result = await sh(script, { env, timeout: 200, killGrace: 100 }).wait()
    expect(result).toMatchObject({ signal: 'SIGTERM', timedOut: true })
    await until(() => survivors().length === 0)
  })

  it('TERM comes first, so that a process can clean up', async () => {
    const script = 'trap "echo bye; exit 5" TERM; echo ready; while :; do sleep 0.01; done'
    const result = await endedWhenReady((timeout) => sh(script, { timeout, killGrace: 3000 }))
    expect(result).toMatchObject({ exitCode: 5, timedOut: true })
    expect(result.stdout.text).toBe('ready\nbye\n')
  })

  it('an abort rejects with its reason after the tree has gone', async () => {
    const { env, survivors } = createMarker()
    const controller = new AbortController()
    const running = sh('sleep 60 & setsid sleep 60 & echo ready; sleep 60', {
      env,
      signal: controller.signal,
      onStdout: () => controller.abort(new Error('enough')),
    })
    await expect(running.wait()).rejects.toThrow('enough')
    expect(survivors()).toEqual([])
    expect(() => sh('true', { signal: controller.signal })).toThrow('enough')
  })

  it('what is left in the background and keeps the output open does not make wait hang', async () => {
    const { env, survivors } = createMarker()
    const result = await sh('sleep 60 & echo done', { env, drainGrace: 100 }).wait()
    expect(result).toMatchObject({ exitCode: 0, timedOut: false })
    expect(result.stdout.text).toBe('done\n')
    await until(() => survivors().length === 0)
  })

  for (const kind of ['a pipe', 'a socket'])
    it(`[HO4] what was written to ${kind} is read whole at the end, and nothing that others write after it`, async () => {
      const maker = usePipes()
      onTestFinished(() => maker.close())
      const stdoutPipe = kind === 'a pipe' ? await maker.take() : undefined
      const outside =
        stdoutPipe && openSync(`/proc/self/fd/${stdoutPipe.write}`, constants.O_WRONLY | constants.O_NONBLOCK)
      onTestFinished(() => void (outside && closeSync(outside)))
      const script = 'echo first; read -r word; head -c 60000 /dev/zero; echo last >&2; echo last'
      const first = Promise.withResolvers<void>()
      // A listener that never settles: from the first line on, nothing more is read before the end.
      const onStdout = () => (first.resolve(), new Promise<void>(() => undefined))
      const running = sh(script, { stdin: 'pipe', stdoutPipe, onStdout, drainGrace: 0 })
      await first.promise
      running.stdin?.write('on\n')
      const { stdout, stderr, exitCode } = await running.wait()
      if (outside) expect(() => writeSync(outside, 'late')).toThrow('EPIPE')
      expect({ exitCode, stdout: stdout.totalBytes, end: stdout.text.slice(-5), stderr: stderr.text }).toEqual({
        exitCode: 0,
        stdout: 60_011,
        end: 'last\n',
        stderr: 'last\n',
      })
    })

  it('kill sends to the group, SIGKILL to the tree; afterwards it is false', async () => {
    const { env, survivors } = createMarker()
    const running = sh('setsid sleep 60 & sleep 60', { env })
    await until(() => survivors().length === 3)
    expect(running.kill('SIGKILL')).toBe(true)
    expect(await running.wait()).toMatchObject({ signal: 'SIGKILL', timedOut: false })
    await until(() => survivors().length === 0)
    expect(running.kill()).toBe(false)
  })

  it('disposing ends it', async () => {
    const { env, survivors } = createMarker()
    {
      await using running = sh('sleep 60 & sleep 60', { env })
      expect(running.pid).toBeGreaterThan(0)
    }
    await until(() => survivors().length === 0)
  })

  it('a Node without a listener for the result does not crash when the start fails', async () => {
    const child = spawn(
      process.execPath,
      [
        '--conditions=@ws/source',
        '--input-type=module',
        '-e',
        `const { startProcess } = await import(${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}); startProcess({ argv: ['/nonexistent'] })`,
      ],
      { stdio: 'ignore' },
    )
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})
