/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createProotExecutor } from '@ws/executor-proot'
import { component, describeWith, rounds } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { Bench, owner, request, virtual } from './support.ts'

const needed = [component('proot'), component('perl'), component('bash')]

/** Sleeps for a unique time, so that survivors are known by their command line. */
function uniqueSleep(): string {
  return `${60_000 + Math.floor(Math.random() * 1e6)}.${process.pid}`
}

/** In the foreground group, in a session of its own, a daemon, and each deaf to TERM. */
function family(time: string): string {
  return [
    `sleep ${time} &`,
    `setsid sleep ${time} &`,
    `(setsid sh -c 'sleep ${time} & exec sleep ${time}' &)`,
    `(trap '' TERM; exec sleep ${time}) &`,
    `(trap '' TERM; setsid sleep ${time} &)`,
    `until [ "$(ls -A started 2>/dev/null)" ]; do mkdir -p started; touch started/x; done; echo ready`,
  ].join('\n')
}

async function sleepers(time: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    if (line.split('\0')[0] === 'sleep' && line.includes(time)) found.push(pid)
  }
  return found
}

async function none(time: string): Promise<void> {
  // The kernel may take a moment to take the last one off the list.
  for (let round = 0; round < 100 && (await sleepers(time)).length > 0; round++) await delay(20)
  expect(await sleepers(time)).toEqual([])
}

const runtimeDirectories = async (pid: number) =>
  (await readdir(tmpdir())).filter((name) => name.startsWith(`ws-proot-${pid}-`))
const prootDroppings = async () => (await readdir(tmpdir())).filter((name) => /^proot(ed)?-/.test(name))

const all = [{}, { pidNamespace: 'off' }, { pidNamespace: 'off', landlock: 'off' }] as const
for (const [index, options] of all.entries()) {
  describeWith(needed, `the end of a command ${JSON.stringify(options)}`, { tags: index === 0 ? [] : ['deep'] }, () => {
    it('tells exit codes and signals as they are', async () => {
      await using bench = await Bench.create('/', options)
      expect(await bench.run('exit 7')).toMatchObject({ exitCode: 7, signal: null, timedOut: false })
      expect(await bench.run('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
      expect(await bench.run('kill -SEGV $$')).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
      expect(await bench.run('nosuchprogram')).toMatchObject({ exitCode: 127, signal: null })
      expect(await bench.run('bash -c "kill -9 \\$\\$"; exit $?')).toMatchObject({ exitCode: 137, signal: null })
    })

    it('leaves no process after a normal exit with background, setsid, daemon and TERM-ignoring children', async () => {
      await using bench = await Bench.create('/', options)
      const time = uniqueSleep()
      const result = await bench.run(family(time))
      expect(result).toMatchObject({ exitCode: 0, stdout: 'ready\n' })
      await none(time)
    })

    it('leaves none after a timeout, and says so', async () => {
      await using bench = await Bench.create('/', options)
      const time = uniqueSleep()
      const result = await bench.run(`${family(time)}; sleep ${time}`, { timeout: 2_500 })
      expect(result.timedOut).toBe(true)
      expect(result.stdout).toBe('ready\n')
      expect(result.exitCode === null || result.exitCode > 128).toBe(true)
      await none(time)
    })

    it('lets a command tidy up on timeout', async () => {
      await using bench = await Bench.create('/', options)
      const result = await bench.run(`trap 'echo tidy; exit 3' TERM; echo up; sleep 1000 & wait`, {
        timeout: 2_000,
        killGrace: 5_000,
      })
      expect(result).toMatchObject({ timedOut: true, stdout: 'up\ntidy\n', exitCode: 3 })
    })

    it('leaves none after an abort, and rejects with its reason', async () => {
      await using bench = await Bench.create('/', options)
      const time = uniqueSleep()
      const controller = new AbortController()
      const running = await bench.executor.spawn(
        request(`${family(time)}; sleep ${time}`, { signal: controller.signal }),
        bench.plan(),
      )
      await firstChunk(running.stdout)
      controller.abort(new Error('enough'))
      await expect(running.wait()).rejects.toThrow('enough')
      await none(time)
    })

    it('leaves none after kill, and none after close', async () => {
      await using bench = await Bench.create('/', options)
      for (const end of ['kill', 'close'] as const) {
        const time = uniqueSleep()
        const running = await bench.executor.spawn(request(`${family(time)}; sleep ${time}`), bench.plan())
        await firstChunk(running.stdout)
        expect(await sleepers(time)).not.toEqual([])
        if (end === 'kill') expect(running.kill('SIGKILL')).toBe(true)
        else await bench.executor.close()
        expect(await running.wait()).toMatchObject({ signal: 'SIGKILL', exitCode: null })
        await none(time)
        expect(running.kill()).toBe(false)
      }
      await expect(bench.run('true')).rejects.toMatchObject({ code: 'ECLOSED' })
      expect(await prootDroppings()).toEqual([])
    })

    it('passes other signals on to the command alone', async () => {
      await using bench = await Bench.create('/', options)
      for (const signal of ['SIGUSR1', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) {
        // perl, since bash itself loses a SIGINT now and then: where it comes between the end of a child and the wait for it.
        const trap = `$| = 1; $SIG{${signal.slice(3)}} = sub { print "got\\n"; exit 4 }; print "up\\n"; sleep 1 while 1`
        const running = await bench.executor.spawn(request(`exec perl -e '${trap}'`), bench.plan())
        await firstChunk(running.stdout)
        expect(running.kill(signal), signal).toBe(true)
        expect(await running.wait(), signal).toMatchObject({ exitCode: 4, stdout: 'up\ngot\n', stderr: '' })
      }
    })

    it('leaves none, and nothing on disk, when proot itself is killed', async () => {
      await using bench = await Bench.create('/', options)
      const time = uniqueSleep()
      const running = await bench.executor.spawn(request(`${family(time)}; sleep ${time}`), bench.plan())
      await firstChunk(running.stdout)
      const entries = await readdir(bench.workspace)
      process.kill(await findProot(bench.workspace), 'SIGKILL')
      await expect(running.wait()).rejects.toMatchObject({ code: 'EIO', remedy: expect.any(String) })
      await none(time)
      expect(await readdir(bench.workspace)).toEqual(entries)
      expect(await prootDroppings()).toEqual([])
    })

    it('[LS13] is an error for every command when proot is killed, never its result', {
      tags: 'rounds',
    }, async () => {
      await using bench = await Bench.create('/', options)
      const commands = ['sleep 1000', 'sleep 1000; echo no', 'sleep 1000 & wait', 'cat /dev/zero > /dev/null']
      for (const _ of rounds({ quick: 2, seconds: 5 })) {
        for (const command of commands) {
          const running = await bench.executor.spawn(request(`echo up; ${command}`), bench.plan())
          await firstChunk(running.stdout)
          process.kill(await findProot(bench.workspace), 'SIGKILL')
          await expect(running.wait(), command).rejects.toMatchObject({ code: 'EIO' })
        }
      }
    })

    it('leaves none when this process is killed, and the next one sweeps what it left', async () => {
      await using bench = await Bench.create('/', options)
      const time = uniqueSleep()
      const script = `
        import { createProotExecutor } from '@ws/executor-proot'
        const [root, uid, gid, options, command] = process.argv.slice(1)
        const owner = { uid: Number(uid), gid: Number(gid) }
        const attached = await createProotExecutor(JSON.parse(options)).attach({ root: '/', owner, files: {} })
        const binds = [{ kind: 'mount', at: '/', type: 'directory', source: root, access: 'read-write', rules: [] }]
        const request = { command, cwd: '/', env: {}, login: false, shell: '/bin/bash', killGrace: 100, maxOutputBytes: 100 }
        const running = await attached.spawn(request, { root: '/', binds, aliases: [], restrictions: [], renameBorders: [] })
        for await (const chunk of running.stdout) process.stdout.write(chunk)`
      const parameters = [
        bench.workspace,
        owner.uid,
        owner.gid,
        JSON.stringify(options),
        `${family(time)}; sleep ${time}`,
      ]
      const node = spawn(
        process.execPath,
        ['--conditions=@ws/source', '--input-type=module', '-e', script, '--', ...parameters.map(String)],
        { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      try {
        await once(node.stdout, 'data')
        expect(await sleepers(time)).not.toEqual([])
      } finally {
        node.kill('SIGKILL')
        await once(node, 'exit')
      }
      await none(time)
      expect(await readdir(bench.workspace)).toEqual(['started'])
      const again = await createProotExecutor(options).attach({ root: virtual('/'), owner, files: {} as never })
      await again.close()
      expect(await runtimeDirectories(node.pid ?? 0)).toEqual([])
    })
  })
}

describeWith(needed, 'what a view is made of', () => {
  it('is gone after close', async () => {
    const bench = await Bench.create('/')
    await bench.run('mkdir -p /dev/shm/a/b; chmod 0 /dev/shm/a; true')
    await bench[Symbol.asyncDispose]()
    const left = await runtimeDirectories(process.pid)
    await using other = await Bench.create('/')
    expect((await runtimeDirectories(process.pid)).length).toBe(left.length + 1)
    await other.executor.close()
    expect(await runtimeDirectories(process.pid)).toEqual(left)
  })
})

async function firstChunk(stream: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const chunk of stream) return Buffer.from(chunk).toString()
  throw new Error('it ended without output')
}

async function findProot(workspace: string): Promise<number> {
  for (const pid of await readdir('/proc')) {
    const line = /^\d+$/.test(pid) ? await readFile(join('/proc', pid, 'cmdline'), 'latin1').catch(() => '') : ''
    if (line.split('\0')[0]?.endsWith('/proot') && line.includes(workspace)) return Number(pid)
  }
  throw new Error('proot does not run')
}
