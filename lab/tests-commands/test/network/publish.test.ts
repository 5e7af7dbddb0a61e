import { once } from 'node:events'
import { rm, stat } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { ask, helpersOf, open, serve, start } from './support/servers.ts'

describeWith([component('bubblewrap'), component('perl'), component('python3')], 'a published port', () => {
  it.each([
    ['127.0.0.1', {}],
    ['0.0.0.0', {}],
    ['::1', { network: { allow: ['a.test', '*.b.test:9000'] } }],
  ] as const)('[SV1] is reached from the host until it is unpublished: a server on %s', async (host, executor) => {
    const { workspace, events } = await open(executor)
    expect(await workspace.ports()).toEqual([])
    const server = await serve(workspace, 3000, host)
    expect(await workspace.ports()).toEqual([{ port: 3000 }])
    const published = await workspace.publish(3000)
    expect(published).toEqual({
      port: 3000,
      hostPort: expect.any(Number),
      url: `http://127.0.0.1:${published.hostPort}`,
    })
    expect(await workspace.ports()).toEqual([{ port: 3000, published }])
    const url = published.url ?? ''
    const paths = Array.from({ length: 20 }, (_, n) => `/${n}`)
    expect(await Promise.all(paths.map((path) => ask(url, path)))).toEqual(paths.map((path) => `hello ${path}`))
    await workspace.unpublish(3000)
    expect(await ask(url)).toBe('failed ECONNREFUSED')
    const again = await workspace.publish(3000, { hostPort: published.hostPort })
    expect(await ask(again.url ?? '')).toBe('hello /')
    await server.end()
    expect(await ask(url)).toBe('failed ECONNRESET')
    await workspace.close()
    expect(await ask(url)).toBe('failed ECONNREFUSED')
    const published_ = events.filter(({ operation }) => operation.endsWith('publish'))
    const by = { door: 'exec', path: '/workspace', port: 3000, outcome: 'allowed', executor: 'bubblewrap' }
    expect(published_).toMatchObject(['publish', 'unpublish', 'publish'].map((operation) => ({ ...by, operation })))
  })

  it('[SV1] can be a Unix socket', async () => {
    const { workspace, scratch } = await open()
    const server = await serve(workspace, 3000)
    const socketPath = join(scratch.path, '..', `ws-${process.pid}.sock`)
    onTestFinished(() => rm(socketPath, { force: true }))
    expect(await workspace.publish(3000, { socketPath })).toEqual({ port: 3000, socketPath })
    expect((await stat(socketPath)).mode & 0o777).toBe(0o700)
    expect(await ask({ socketPath }, '/unix')).toBe('hello /unix')
    await server.end()
  })

  it('[SV1] carries bytes of both sides, and their ends', async () => {
    const { workspace } = await open()
    const echo = [
      'import socket',
      's = socket.create_server(("127.0.0.1", 3000)); print("ready", flush=True)',
      'while True:',
      '  c, _ = s.accept(); got = 0',
      '  while True:',
      '    part = c.recv(65536)',
      '    if not part: break',
      '    got += len(part); c.sendall(part)',
      '  c.sendall(f"end {got}".encode()); c.close()',
    ].join('\n')
    await workspace.write('/workspace/echo.py', echo)
    const ready = Promise.withResolvers<void>()
    const running = await workspace.start('python3 echo.py', { onOutput: () => ready.resolve() })
    await ready.promise
    const { hostPort = 0 } = await workspace.publish(3000)
    const socket = connect({ port: hostPort, host: '127.0.0.1', allowHalfOpen: true })
    const sent = Buffer.alloc(3_000_000, 'x')
    socket.end(sent)
    let length = 0
    let tail = ''
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      length += chunk.length
      tail = (tail + String(chunk)).slice(-20)
    }
    expect({ length, tail: tail.replace(/^x+/, '') }).toEqual({ length: sent.length + 11, tail: 'end 3000000' })
    running.kill('SIGKILL')
    await running.wait()
  })

  it('[SV1] is refused in one sentence: nobody listens, taken, twice, privileged, forbidden, closed', async () => {
    const { workspace, events } = await open({}, { rules: [rules.publish([3000, 3001])] })
    await expect(workspace.publish(3000)).rejects.toMatchObject({
      code: 'ENOENT',
      reason: 'nothing listens on port 3000 of the workspace',
      remedy: 'wait until `ports()` lists it; the server must be a command in the background that acknowledges no rule',
    })
    const server = await serve(workspace, 3000)
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const hostPort = (other.address() as AddressInfo).port
    await expect(workspace.publish(3000, { hostPort })).rejects.toMatchObject({
      code: 'EBUSY',
      reason: `port ${hostPort} of this machine is taken`,
      remedy: 'leave `hostPort` out, or choose another',
    })
    const { url } = await workspace.publish(3000)
    await expect(workspace.publish(3000)).rejects.toMatchObject({
      code: 'EEXIST',
      reason: `port 3000 is published already at ${url}`,
      remedy: 'use that one, or call `unpublish` first',
    })
    await expect(workspace.publish(4000)).rejects.toMatchObject({
      code: 'EACCES',
      rule: 'publish',
      reason: 'port 4000 may not be published: the rule allows 3000, 3001',
    })
    await expect(workspace.unpublish(3001)).rejects.toMatchObject({
      code: 'ENOENT',
      reason: 'port 3001 is not published',
      remedy: 'nothing is left to do',
    })
    for (const port of [80, 0, 65_536, 3.5, Number.NaN, '3000'])
      await expect(workspace.publish(port as number)).rejects.toMatchObject({ code: 'EINVAL' })
    for (const options of [
      { hostPort: 0 },
      { socketPath: 'relative' },
      { port: 3000 },
      { hostPort: 4000, socketPath: '/a' },
    ])
      await expect(workspace.publish(3000, options)).rejects.toMatchObject({ code: 'EINVAL' })
    expect(events.filter(({ operation, outcome }) => operation === 'publish' && outcome === 'denied')).toMatchObject([
      { port: 4000, rule: 'publish', code: 'EACCES' },
    ])
    await server.end()
    await workspace.close()
    await expect(workspace.publish(3000)).rejects.toMatchObject({ code: 'ECLOSED' })
    await expect(workspace.ports()).rejects.toMatchObject({ code: 'ECLOSED' })
  })

  it('[SV1] of a holder that was killed leads to no other workspace, and to the new server of its own', async () => {
    const { workspace } = await open()
    const first = await serve(workspace, 3000)
    const { url = '' } = await workspace.publish(3000)
    expect(await ask(url)).toBe('hello /')
    await first.end()
    const [holder = 0, ...more] = helpersOf(process.pid, 'Holds a network')
    expect(more).toEqual([])
    const { workspace: other } = await open()
    const server = await serve(other, 3000)
    expect(await ask(url)).toBe('failed ECONNRESET')
    process.kill(holder, 'SIGKILL')
    while (helpersOf(process.pid, 'Holds a network').includes(holder)) await setTimeout(10)
    // until this process knows of the end, commands find the last loopback or are refused
    while (helpersOf(process.pid, 'Holds a network').length < 2) await workspace.exec('true').catch(() => undefined)
    const second = await serve(workspace, 3000)
    expect(await ask(url, '/second')).toBe('hello /second')
    await Promise.all([server.end(), second.end()])
  })

  it('[SV1] is reached again after the helper that connects was killed', async () => {
    const { workspace } = await open()
    const server = await serve(workspace, 3000)
    const { url = '' } = await workspace.publish(3000)
    expect(await ask(url)).toBe('hello /')
    const helpers = helpersOf(process.pid, 'Opens sockets in')
    expect(helpers).not.toEqual([])
    for (const pid of helpers) process.kill(pid, 'SIGKILL')
    while ((await ask(url)) !== 'hello /') await setTimeout(10)
    await server.end()
  })

  it('[SV1] is reached while the server of another port accepts nothing, whose connections end', async () => {
    const { workspace } = await open()
    const full = [
      'import socket, time',
      's = socket.socket(); s.bind(("127.0.0.1", 3001)); s.listen(0)',
      'held = [socket.socket() for n in range(4)]',
      'for one in held: one.setblocking(False); one.connect_ex(("127.0.0.1", 3001))',
      'print("ready", flush=True); time.sleep(600)',
    ].join('\n')
    await workspace.write('/workspace/full.py', full)
    const [silent, server] = [await start(workspace, 'python3 full.py'), await serve(workspace, 3000)]
    const [{ hostPort = 0 }, { url = '' }] = [await workspace.publish(3001), await workspace.publish(3000)]
    const sockets = Array.from({ length: 40 }, () => connect(hostPort, '127.0.0.1'))
    let ended = 0
    const ends = sockets.map(async (socket) => {
      socket.on('error', () => undefined) // a reset is the expected end
      await new Promise((resolve) => socket.once('close', resolve))
      ended += 1
    })
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (let n = 0; n < 5; n++) expect(await ask(url)).toBe('hello /')
    expect(ended).toBeLessThan(sockets.length)
    await Promise.all(ends)
    await Promise.all([silent.end(), server.end()])
  })

  it('[SV1] of two calls at a time is published once, and a call that fails is told of itself alone', async () => {
    const { workspace } = await open()
    const server = await serve(workspace, 3000)
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const { port: hostPort } = other.address() as AddressInfo
    const failed = expect(workspace.publish(3000, { hostPort })).rejects.toMatchObject({ code: 'EBUSY' })
    const unpublished = expect(workspace.unpublish(3000)).rejects.toMatchObject({ code: 'ENOENT' })
    const [one, two] = await Promise.allSettled([workspace.publish(3000), workspace.publish(3000)])
    expect(one.status).toBe('fulfilled')
    expect(two).toMatchObject({ reason: { code: 'EEXIST' } })
    await Promise.all([failed, unpublished])
    const ends = await Promise.allSettled([workspace.unpublish(3000), workspace.unpublish(3000)])
    expect(ends).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'ENOENT' } }])
    await server.end()
  })

  it('[SV1] survives thousands of connections that a command leaves behind, and a port that is taken is said', {
    tags: 'all',
  }, async () => {
    const { workspace } = await open()
    const server = await serve(workspace, 3000)
    const { url = '' } = await workspace.publish(3000)
    const flood = [
      'import socket',
      'for n in range(20):',
      '  held = []',
      '  for m in range(1000):',
      '    s = socket.socket(); s.setblocking(False); s.connect_ex(("127.0.0.1", 3000)); held.append(s)',
      'print("flooded")',
    ].join('\n')
    await workspace.write('/workspace/flood.py', flood)
    expect((await workspace.exec('ulimit -n 4096; python3 flood.py')).stdout).toBe('flooded\n')
    while ((await ask(url)) !== 'hello /') await setTimeout(50)
    expect((await workspace.exec('curl -s localhost:3000/after')).stdout).toBe('hello /after')
    expect((await workspace.exec('python3 server.py')).stderr).toContain('Address already in use')
    expect(await workspace.ports()).toMatchObject([{ port: 3000 }])
    await server.end()
  })

  it('[SV1] survives 65,000 connections that a command leaves behind', {
    tags: 'deep',
  }, async () => {
    const { workspace } = await open()
    const server = await serve(workspace, 3000)
    const { url = '' } = await workspace.publish(3000)
    const leave = [
      'import socket',
      's = socket.create_server(("0.0.0.0", 3001)); made = 0',
      'for made in range(1, 65001):',
      '  c = socket.create_connection((f"127.0.1.{made % 8}", 3001)); a, _ = s.accept(); c.close(); a.close()',
      'waits = sum(" 06 " in line for line in open("/proc/net/tcp"))',
      'print(made, waits > 10000)',
    ].join('\n')
    await workspace.write('/workspace/leave.py', leave)
    expect((await workspace.exec('python3 leave.py')).stdout).toBe('65000 True\n')
    expect(await ask(url, '/after')).toBe('hello /after')
    expect(await workspace.ports()).toMatchObject([{ port: 3000 }])
    expect((await workspace.exec('curl -s localhost:3000/later')).stdout).toBe('hello /later')
    await server.end()
  })

  it.each([{ network: 'host' }, { loopback: 'command' }] as const)(
    '[SV1] needs a shared loopback: %j',
    async (executor) => {
      const { workspace } = await open(executor)
      await expect(workspace.publish(3000)).rejects.toMatchObject({
        code: 'ENOTSUP',
        reason: 'the commands of this workspace do not share a loopback',
      })
    },
  )
})

describe('the rule `publish`', () => {
  let workspace: Workspace
  beforeEach(async () => {
    workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: createMemoryAdapter() }],
      executors: [createVirtualExecutor()],
      rules: [rules.publish([])],
    })
    onTestFinished(() => workspace.close())
  })

  it('[SV1] stands before all else, and lets commands run', async () => {
    await expect(workspace.publish(3000)).rejects.toMatchObject({
      code: 'EACCES',
      reason: 'port 3000 may not be published: the rule allows none',
    })
    await expect(workspace.ports()).rejects.toMatchObject({ code: 'ENOTSUP' })
    expect((await workspace.exec('echo runs')).stdout).toBe('runs\n')
  })

  it.each([[[80]], ['3000'], [[3000, '3001']], [undefined]])('is refused for %j', (ports) => {
    expect(() => rules.publish(ports as number[])).toThrow(/EINVAL: rules.publish: `ports/)
  })
})
