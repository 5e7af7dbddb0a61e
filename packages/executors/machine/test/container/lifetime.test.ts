/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

import { component, createScratchDirectory, describeWith, openEngine } from '@ws/test-fixtures'
import { afterAll, expect, it } from 'vitest'

import { createContainerExecutor } from '../../src/container/index.ts'
import { containersOf, executorOn, openSite, plain } from './support.ts'

const root = '/workspace' as never

describeWith([component('dockerd')], 'the engine of containers', async () => {
  const engine = await openEngine()
  afterAll(() => engine[Symbol.asyncDispose]())

  async function untilGone(): Promise<void> {
    while ((await containersOf(engine)).length > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  it('has nothing left after the host was killed, and none of its containers after close', async () => {
    await using scratch = await createScratchDirectory()
    const { uid, gid } = scratch.owner
    const script = new URL('host-process.ts', import.meta.url).pathname
    const host = spawn(
      process.execPath,
      ['--conditions=@ws/source', script, engine.address, engine.image, scratch.path, String(uid), String(gid)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await once(host.stdout, 'data')
    expect(await containersOf(engine)).toHaveLength(1)
    host.kill('SIGKILL')
    await untilGone()
    {
      await using site = await openSite(engine)
      expect(await site.workspace.exec('echo again', plain)).toMatchObject({ stdout: 'again\n' })
      expect(await containersOf(engine)).toHaveLength(1)
    }
    expect(await containersOf(engine)).toEqual([])
  })

  it('is cleaned of containers whose host has ended, and of no others', async () => {
    const create = async (owner: string): Promise<string> => {
      const settings = { Image: engine.image, Cmd: ['true'], Labels: { 'dev.ws.owner': owner } }
      return (await engine.call<{ readonly Id: string }>('POST', '/containers/create', settings)).Id
    }
    await using site = await openSite(engine)
    await site.workspace.exec('true', plain)
    const [own] = await engine.call<readonly { readonly Labels: Record<string, string> }[]>('GET', '/containers/json')
    const [boot, namespace, uid, pid, startTime] = (own?.Labels['dev.ws.owner'] ?? '').split(' ')
    expect([pid, boot]).toEqual([String(process.pid), readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()])
    const dead = await create([boot, namespace, uid, '4194303', '1'].join(' '))
    const reused = await create([boot, namespace, uid, pid, '1'].join(' '))
    const kept = [
      await create([boot, namespace, uid, pid, startTime].join(' ')),
      await create(['another-boot', namespace, uid, '4194303', '1'].join(' ')),
      await create([boot, 'pid:[1]', uid, '4194303', '1'].join(' ')),
      await create([boot, namespace, '4242', '4194303', '1'].join(' ')),
      await create(''),
    ]
    // another probe looks again
    await executorOn(engine, { scratchBytes: 1_000_000 }).probe({ root, owner: site.scratch.owner })
    const left = (await containersOf(engine)).map(({ Id }) => Id)
    expect(kept.filter((id) => !left.includes(id))).toEqual([])
    expect(left).not.toContain(dead)
    expect(left).not.toContain(reused)
    for (const id of kept) await engine.call('DELETE', `/containers/${id}?force=1`)
  })

  it('that removes a container ends its commands with a sentence, and the next command has another', async () => {
    await using site = await openSite(engine)
    const running = await site.workspace.spawn('echo begun; exec sleep 1000', plain)
    await running.stdout[Symbol.asyncIterator]().next()
    for (const { Id } of await containersOf(engine)) await engine.call('DELETE', `/containers/${Id}?force=1`)
    await expect(running.wait()).rejects.toMatchObject({
      code: 'EIO',
      reason: 'the container ended while the command ran; its changes so far stay',
    })
    expect(await site.workspace.exec('echo again', plain)).toMatchObject({ stdout: 'again\n' })
  })

  it('that restarts ends commands with a sentence, and serves the next ones', async () => {
    await using site = await openSite(engine)
    const running = await site.workspace.spawn('echo begun; exec sleep 1000', plain)
    await running.stdout[Symbol.asyncIterator]().next()
    const ended = running.wait().catch((error: unknown) => error)
    await engine.restart()
    expect(await ended).toMatchObject({ code: 'EIO' })
    expect(await site.workspace.exec('echo again', plain)).toMatchObject({ stdout: 'again\n' })
  })

  it('that is missing, or lacks a part, is named by a sentence with its remedy and without its address', async () => {
    await using scratch = await createScratchDirectory()
    const { owner } = scratch
    const probe = (options: Parameters<typeof createContainerExecutor>[0]) =>
      createContainerExecutor({ image: engine.image, engine: engine.address, ...options }).probe({ root, owner })
    const busybox = await engine.call<{ readonly Id: string }>('POST', '/containers/create', {
      Image: engine.image,
      Cmd: ['true'],
    })
    await engine.call('POST', `/commit?container=${busybox.Id}&repo=ws-no-perl`, { Env: ['PATH=/nowhere'] })
    await engine.call('DELETE', `/containers/${busybox.Id}`)
    const reports = {
      none: await probe({ engine: `unix://${scratch.path}/no-such.sock` }),
      image: await probe({ image: 'no-such-image' }),
      perl: await probe({ image: 'ws-no-perl' }),
      root: await createContainerExecutor({ image: engine.image, engine: engine.address }).probe({ owner }),
      tcp: await probe({ engine: 'tcp://127.0.0.1:1' }),
    }
    const missing = Object.fromEntries(Object.entries(reports).map(([name, report]) => [name, report.missing]))
    expect(missing).toEqual({
      none: ['the container engine does not answer (ENOENT)'],
      image: ['the engine does not have the image `no-such-image`'],
      perl: ['the image has no perl, which runs commands in it'],
      root: ['a container cannot have a mount at `/`'],
      tcp: ['the container engine does not answer (ECONNREFUSED)'],
    })
    for (const report of Object.values(reports)) {
      expect(report.available).toBe(false)
      expect(report.howToFix).toHaveLength(1)
      expect(JSON.stringify(report)).not.toMatch(/\.sock|ws-engine|ws-test-/)
    }
  })

  it('that goes away between two commands is named by the same sentence', async () => {
    const other = await openEngine()
    await using site = await openSite(other)
    await site.workspace.exec('true', plain)
    await other[Symbol.asyncDispose]()
    const failed: unknown = await site.workspace.exec('true', plain).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'ENOEXECUTOR', reason: expect.stringMatching(/does not answer \(E\w+\)$/) })
    expect(String(failed)).not.toMatch(/\.sock|ws-engine/)
  })
})
