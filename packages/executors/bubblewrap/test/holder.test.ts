import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'

import { Processes } from '@ws/sandbox'
import { component, createScratchDirectory, describeWith, mountHanging } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { attachBubblewrap } from '../src/attach.ts'
import { NetworkHolder } from '../src/loopback/holder.ts'
import { listeningPorts } from '../src/loopback/publisher.ts'
import { useListener } from '../src/network/listener.ts'
import { resolveOptions } from '../src/options.ts'
import { eventually, processes } from './support/processes.ts'
import { needed, Workbench } from './support/workbench.ts'

const guard = { starting: () => () => undefined, close: () => undefined }

async function openBench(): Promise<Workbench> {
  const bench = await Workbench.create('warm')
  onTestFinished(() => bench[Symbol.asyncDispose]())
  return bench
}

describeWith([...needed.warm, component('perl')], 'the process that holds a loopback', () => {
  it('[SV1] sees programs and libraries of this machine, and no other file', async () => {
    const { owner, remove } = await createScratchDirectory()
    onTestFinished(remove)
    const holder = await NetworkHolder.start({ bwrap: '/usr/bin/bwrap', owner, guard })
    onTestFinished(() => holder.close())
    const mounts = readFileSync(`/proc/${holder.place.pid}/mountinfo`, 'utf8').trim().split('\n')
    const places = new Set(mounts.map((line) => line.split(' ')[4]?.split('/')[1]))
    expect([...places].filter((name) => !['', 'usr', 'bin', 'lib', 'lib64'].includes(name ?? ''))).toEqual([])
  })

  it('[SV1] leaves nothing of a start that is aborted, at once: by a command, and by the end of the workspace', async () => {
    const bench = await openBench()
    const bwrap = bench.outside('bwrap')
    await bench.file(bwrap, '#!/bin/sh\n# never answers\nexec sleep 600\n', 0o755)
    await chmod(bench.scratch.path, 0o755)
    const { root, scratch } = bench
    const driver = attachBubblewrap({ root, owner: scratch.owner }, { bwrap }, resolveOptions({ warm: false }))
    const request = { command: 'true', cwd: root, env: {}, shell: '/bin/sh', login: false }
    const whole = { ...request, killGrace: 300, maxOutputBytes: 1000 }
    const stop = new AbortController()
    const first = driver.prepare(bench.plan(), { ...whole, signal: stop.signal })
    const second = driver.prepare(bench.plan(), whole)
    second.catch(() => undefined) // expected below
    const holders = () =>
      processes().filter(({ parent, arguments: words }) => parent === process.pid && words.includes('sleep 600'))
    expect(await eventually(() => holders().length === 1)).toBe(true)
    stop.abort(new Error('stopped'))
    await expect(first).rejects.toThrow('stopped')
    expect(holders()).toHaveLength(1)
    await driver.close?.()
    await expect(second).rejects.toMatchObject({ code: 'ECLOSED' })
    expect(await eventually(() => holders().length === 0)).toBe(true)
  })

  it('[SV1] can be killed while a command runs, which keeps its loopback to its own end', async () => {
    const bench = await openBench()
    const input = Promise.withResolvers<void>()
    const stdin = (async function* () {
      await input.promise
      yield Buffer.from('go\n')
    })()
    const itself =
      'socket(S, 2, 1, 0); bind(S, pack_sockaddr_in(4711, INADDR_LOOPBACK)); listen(S, 1); ' +
      'socket(C, 2, 1, 0); connect(C, pack_sockaddr_in(4711, INADDR_LOOPBACK)) and print "works"'
    const running = await bench.spawn(`echo ready; read -r go; perl -MSocket -e '${itself}'; exit 7`, { stdin })
    let said = ''
    for await (const chunk of running.stdout) {
      said += Buffer.from(chunk).toString()
      if (said === 'ready\n') {
        const [holder] = processes().filter(
          ({ parent, arguments: words }) => parent === process.pid && words.includes('Holds a network'),
        )
        process.kill(holder?.pid ?? 0, 'SIGKILL')
        expect(await eventually(() => !processes().some(({ pid }) => pid === holder?.pid))).toBe(true)
        input.resolve()
      }
    }
    expect([said, (await running.wait()).exitCode]).toEqual(['ready\nworks', 7])
  })

  it('[SV1] has the table of its own network alone: none is read for a process that took its number', async () => {
    const listener = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void listener.close())
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const own = { pid: process.pid, name: 'net:[1]' }
    const { startTime = '' } = Processes.readProcessStat(process.pid) ?? {}
    expect(await listeningPorts({ ...own, startTime }, [])).toContain(port)
    expect(await listeningPorts({ ...own, startTime: '1' }, [])).toEqual([])
    expect(await listeningPorts({ ...own, pid: 2 ** 22 + 1, startTime }, [])).toEqual([])
  })

  it('[NW1] is served by a new helper after the last one was killed', async () => {
    const helpers = () =>
      processes().filter(({ parent, arguments: words }) => parent === process.pid && words.includes('Opens sockets in'))
    const { owner, remove } = await createScratchDirectory()
    onTestFinished(remove)
    const holder = await NetworkHolder.start({ bwrap: '/usr/bin/bwrap', owner, guard })
    onTestFinished(() => holder.close())
    const ask = async () => {
      const listener = useListener()
      onTestFinished(() => listener.close())
      const sockets = [{ kind: 'tcp', address: '127.0.0.1', port: 4711 }] as const
      const onSocket = (_: number, handle: unknown) => void (handle as Server).close()
      const { pid, startTime } = holder.place
      await listener.open({ pid, startTime, owner, network: '127.0.0.1/8', sockets, onSocket })
    }
    await ask()
    for (const { pid } of helpers()) process.kill(pid, 'SIGKILL')
    // until this process knows of the end, a request fails
    const isServed = async () => (await Promise.allSettled([ask()]))[0]?.status === 'fulfilled'
    let tries = 100
    while (!(await isServed()) && tries > 0) tries--
    expect(tries).toBeGreaterThan(0)
  })
})

describeWith(
  [...needed.warm, component('perl'), component('fuse')],
  'a mount of this machine that answers nothing',
  () => {
    it('[SV1] refuses no command', async () => {
      const bench = await openBench()
      const { path, owner, remove } = await createScratchDirectory()
      onTestFinished(remove)
      const dead = join(path, 'dead')
      await mkdir(dead)
      await using _mount = await mountHanging(dead, { ...owner, isDead: true })
      expect(await bench.run('echo runs')).toMatchObject({ stdout: 'runs\n' })
    })
  },
)
