/** @module-tag all */
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import type { CommandLimits } from '@ws/core'
import { component, createScratchDirectory, describeWith, openEngine, until } from '@ws/test-fixtures'
import { afterAll, expect, it } from 'vitest'

import { containersOf, openSite, plain } from './support.ts'

describeWith([component('dockerd')], 'commands in containers', async () => {
  const engine = await openEngine(['python3-minimal', 'libpython3-stdlib'])
  afterAll(() => engine[Symbol.asyncDispose]())

  it('share one container, and cost a tenth of an `exec` of the engine', async () => {
    await using site = await openSite(engine)
    const { workspace } = site
    const { stdout } = await workspace.exec('cat /proc/sys/kernel/random/boot_id', plain)
    expect(stdout).not.toBe('')
    const [container] = await containersOf(engine)
    const time = async (run: () => Promise<unknown>): Promise<number> => {
      const all: number[] = []
      for (let i = 0; i < 15; i++) {
        const began = performance.now()
        await run()
        all.push(performance.now() - began)
      }
      return all.sort((one, other) => one - other)[7] ?? 0
    }
    const ours = await time(() => workspace.exec('true', plain))
    const theirs = await time(async () => {
      const settings = { Cmd: ['/bin/sh', '-c', 'true'], AttachStdout: true, AttachStderr: true }
      const { Id } = await engine.call<{ readonly Id: string }>('POST', `/containers/${container?.Id}/exec`, settings)
      await engine.call('POST', `/exec/${Id}/start`, { Detach: false, Tty: false })
    })
    console.log(
      `true: ${ours.toFixed(1)} ms, the engine's exec: ${theirs.toFixed(1)} ms, ratio ${(ours / theirs).toFixed(2)}`,
    )
    expect(await containersOf(engine)).toHaveLength(1)
  })

  it('have sessions: size, input, an interactive shell, and the end of the time', async () => {
    await using site = await openSite(engine)
    const command = 'echo started; read -r word; stty size; echo "got $word"; exit 7'
    const session = await site.workspace.openSession({ command, columns: 90, rows: 30, shell: 'sh' })
    await until(() => session.read().text.includes('started'))
    session.resize(97, 29)
    await session.write('word\r')
    expect(await session.wait()).toMatchObject({ exitCode: 7, endedBy: 'program' })
    expect(session.read().text).toBe('started\r\nword\r\n29 97\r\ngot word\r\n')
    const shell = await site.workspace.openSession({ shell: 'bash', login: false })
    await shell.write('echo $((6 * 7)); tty; exit 3\r')
    expect(await shell.wait()).toMatchObject({ exitCode: 3 })
    expect(shell.read().text).toMatch(/42\r\n\/dev\/pts\/\d/)
    const late = await site.workspace.openSession({ command: 'sleep 60', timeout: 500, login: false, shell: 'sh' })
    expect(await late.wait()).toMatchObject({ endedBy: 'timeout' })
  })

  it('keep to limits: of a process, of the tree, and of files in memory', async () => {
    await using site = await openSite(engine, { options: { scratch: false } })
    const { workspace } = site
    const run = (command: string, limits: CommandLimits) => workspace.exec(command, { ...plain, limits })
    expect((await run('ulimit -n', { openFiles: 50 })).stdout).toBe('50\n')
    expect((await run('head -c 100000 /dev/zero > big; echo $?', { fileBytes: 10_000 })).stdout).not.toBe('0\n')
    expect((await run('while :; do :; done', { cpuSeconds: 1 })).signal).toBe('SIGXCPU')
    const forks = await run('for i in 1 2 3 4 5 6 7 8 9 10; do sleep 5 & done; echo made', { processes: 5 })
    expect([forks.stdout, forks.stderr]).toEqual([expect.not.stringContaining('made'), expect.stringContaining('fork')])
    const hungry = await run(`python3 -c 'x = bytearray(300_000_000)'`, { memoryBytes: 100_000_000 })
    expect(hungry.exitCode === 0).toBe(false)
    expect((await run('head -c 20000000 /dev/zero > /tmp/x; echo $?', { scratchBytes: 10_000_000 })).stdout).toBe('1\n')
    expect((await workspace.exec('echo on', plain)).stdout).toBe('on\n')
  })

  it('[SV1] go on in the background, and their ports are published, also as a socket outside of every mount', async () => {
    await using site = await openSite(engine)
    await using scratch = await createScratchDirectory()
    const { workspace } = site
    await workspace.write('page', 'a page\n')
    const server = await workspace.spawn('exec python3 -m http.server --bind 127.0.0.1 8080', plain)
    for (let i = 0; i < 200 && !(await workspace.ports()).some(({ port }) => port === 8080); i++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(
      (
        await workspace.exec(
          'python3 -c "import urllib.request as r; print(r.urlopen(\'http://127.0.0.1:8080/page\').read())"',
          plain,
        )
      ).stdout,
    ).toBe("b'a page\\n'\n")
    const place: { port?: number | undefined; socketPath?: string } = {}
    const get = (path: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      request({ host: '127.0.0.1', ...place, path, agent: false }, (answer) => void text(answer).then(resolve, reject))
        .on('error', reject)
        .end()
      return promise
    }
    const three = () => Promise.all([get('/page'), get('/page'), get('/page')])
    const inside = join(site.scratch.path, 'app.sock')
    await expect(workspace.publish(8080, { socketPath: inside })).rejects.toMatchObject({ code: 'EINVAL' })
    place.socketPath = join(scratch.path, 'app.sock')
    await workspace.publish(8080, { socketPath: place.socketPath })
    expect(await three()).toEqual(['a page\n', 'a page\n', 'a page\n'])
    await workspace.unpublish(8080)
    await expect(get('/page')).rejects.toThrow()
    delete place.socketPath
    place.port = (await workspace.publish(8080)).hostPort
    expect(await three()).toEqual(['a page\n', 'a page\n', 'a page\n'])
    server.kill('SIGTERM')
    await server.wait()
    await expect(get('/page')).rejects.toThrow()
  })

  it('get arguments and input of any size, and are ended with their tree', async () => {
    await using site = await openSite(engine)
    const long = 'x'.repeat(200_000)
    expect((await site.workspace.exec(`echo ${long} | wc -c`, plain)).stdout).toBe('200001\n')
    const stdin = Buffer.alloc(5_000_000, 'input ')
    expect((await site.workspace.exec('wc -c', { ...plain, stdin })).stdout).toBe('5000000\n')
    const big = await site.workspace.exec('head -c 5000000 /dev/zero', { ...plain, maxOutputBytes: 1000 })
    expect(big.stdoutBytes).toBe(5_000_000)
    const late = await site.workspace.exec('(setsid sleep 100 &) ; sleep 100', { ...plain, timeout: 300 })
    expect(late).toMatchObject({ timedOut: true })
    expect((await site.workspace.exec('cat /proc/[0-9]*/comm', plain)).stdout).not.toContain('sleep')
  })
})
