import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { get } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { type AccessEvent, createWorkspace, rules, type Workspace, type WorkspaceOptions } from '@ws/core'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

let scratch: ScratchDirectory

async function open(
  executor: BubblewrapExecutorOptions = {},
  more: Partial<Pick<WorkspaceOptions, 'rules'>> = {},
): Promise<{ readonly workspace: Workspace; readonly events: AccessEvent[] }> {
  scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const { path: root, owner } = scratch
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root, owner }) }],
    executors: [createBubblewrapExecutor(executor)],
    ...more,
  })
  onTestFinished(() => workspace.close())
  const events: AccessEvent[] = []
  workspace.on('access', (event) => events.push(event))
  return { workspace, events }
}

/** A server that says its own address to each request, and repeats the body. */
const program = (host: string, port: number): string =>
  [
    'import http.server as h, socket, sys',
    'class H(h.BaseHTTPRequestHandler):',
    '  protocol_version = "HTTP/1.1"',
    '  def do_GET(self):',
    '    body = f"hello {self.path}".encode()',
    '    self.send_response(200); self.send_header("content-length", str(len(body))); self.end_headers(); self.wfile.write(body)',
    '  def log_message(self, *a): pass',
    `class S(h.ThreadingHTTPServer): address_family = socket.AF_INET6 if ":" in "${host}" else socket.AF_INET`,
    `s = S(("${host}", ${port}), H)`,
    'print("ready", flush=True)',
    's.serve_forever()',
  ].join('\n')

async function serve(workspace: Workspace, port: number, host = '127.0.0.1') {
  await workspace.write('/workspace/server.py', program(host, port))
  const ready = Promise.withResolvers<void>()
  const running = await workspace.start('python3 server.py', { onOutput: () => ready.resolve() })
  await ready.promise
  return {
    async end() {
      running.kill('SIGKILL')
      await running.wait()
    },
  }
}

function ask(where: string | { readonly socketPath: string }, path = '/'): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = typeof where === 'string' ? { port: new URL(where).port } : where
    get({ host: '127.0.0.1', agent: false, path, ...options }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += String(chunk)))
      response.on('end', () => resolve(body))
      response.on('error', reject)
    }).on('error', (error: NodeJS.ErrnoException) => resolve(`failed ${error.code}`))
  })
}

/** The helpers of a process whose script has these words. */
function helpersOf(parent: number, words: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const stat = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/stat`, 'latin1') : ''
      const isChild = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      return isChild && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(words) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

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
    const { workspace } = await open()
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
      remedy: 'start the server first, as a command in the background; `ports()` lists what listens',
    })
    const server = await serve(workspace, 3000)
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const hostPort = (other.address() as AddressInfo).port
    await expect(workspace.publish(3000, { hostPort })).rejects.toMatchObject({
      code: 'EBUSY',
      reason: 'the port or the path on this machine is taken',
      remedy: 'choose another one, or leave `hostPort` out',
    })
    await expect(workspace.publish(3000, { socketPath: '/nowhere/at/all' })).rejects.toMatchObject({ code: 'ENOENT' })
    const { url } = await workspace.publish(3000)
    await expect(workspace.publish(3000)).rejects.toMatchObject({
      code: 'EEXIST',
      reason: `port 3000 is published already at ${url}`,
      remedy: 'use that address, or call `unpublish` first',
    })
    await expect(workspace.publish(4000)).rejects.toMatchObject({
      code: 'EACCES',
      rule: 'publish',
      reason: 'port 4000 may not be published: the rule allows 3000, 3001',
    })
    await expect(workspace.unpublish(3001)).rejects.toMatchObject({
      code: 'ENOENT',
      reason: 'port 3001 is not published',
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

describeWith(
  [component('bubblewrap'), component('perl'), component('node'), component('chromium')],
  'a published port in a browser',
  { tags: 'deep' },
  () => {
    it('[SV1] shows the page of a server of node', async () => {
      const { workspace } = await open()
      const page = '<title>before</title><script>document.title = "hello " + location.pathname</script>'
      const program = `require('http').createServer((q, r) => r.end(${JSON.stringify(page)})).listen(5173, 'localhost', () => console.log('ready'))`
      await workspace.write('/workspace/server.cjs', program)
      const ready = Promise.withResolvers<void>()
      const running = await workspace.start('node server.cjs', { onOutput: () => ready.resolve() })
      await ready.promise
      expect((await workspace.exec('curl -s localhost:5173')).stdout).toBe(page)
      const { url } = await workspace.publish(5173)
      const profile = join(scratch.path, '..', `profile-${process.pid}`)
      onTestFinished(() => rm(profile, { recursive: true, force: true }))
      const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`, '--dump-dom']
      const { stdout } = await promisify(execFile)('chromium', [...flags, `${url}/page`])
      expect(stdout).toContain('<title>hello /page</title>')
      running.kill('SIGKILL')
      await running.wait()
    })
  },
)

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
