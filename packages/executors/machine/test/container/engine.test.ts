import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { findEngine, parseAddress } from '../../src/container/engine/address.ts'
import { EngineError } from '../../src/container/engine/client.ts'
import { engineError } from '../../src/container/engine/failure.ts'
import { createContainerExecutor } from '../../src/container/index.ts'
import { removeLeftovers } from '../../src/container/leftovers.ts'

describe('the address of an engine', () => {
  it('is a Unix socket or plain TCP', () => {
    expect(parseAddress('unix:///run/docker.sock')).toEqual({ socketPath: '/run/docker.sock' })
    expect(parseAddress('tcp://127.0.0.1:2375')).toEqual({ host: '127.0.0.1', port: 2375 })
    expect(parseAddress('tcp://[::1]:2375/')).toEqual({ host: '::1', port: 2375 })
    for (const text of [
      '',
      '/run/docker.sock',
      'ssh://host',
      'https://host:2376',
      'tcp://host',
      'npipe:////./pipe/docker',
    ])
      expect(parseAddress(text)).toBeUndefined()
    expect(() => createContainerExecutor({ engine: 'ssh://secret@host' })).toThrow(/EINVAL(?!.*secret)/)
  })

  it('is found by variables, contexts and usual sockets, and TCP is refused there', async () => {
    await using scratch = await createScratchDirectory()
    const home = scratch.path
    expect(findEngine({ HOME: home, DOCKER_HOST: 'unix:///a.sock', CONTAINER_HOST: 'unix:///b.sock' })).toEqual({
      socketPath: '/a.sock',
    })
    expect(findEngine({ HOME: home, CONTAINER_HOST: 'unix:///b.sock' })).toEqual({ socketPath: '/b.sock' })
    const remote = findEngine({ HOME: home, DOCKER_HOST: 'tcp://user:secret@10.0.0.1:2375' })
    expect(remote).toMatchObject({ reason: expect.stringContaining('is not reached by a Unix socket') })
    expect(JSON.stringify(remote)).not.toMatch(/secret|10\.0/)
    const id = createHash('sha256').update('colima').digest('hex')
    mkdirSync(join(home, '.docker/contexts/meta', id), { recursive: true })
    writeFileSync(join(home, '.docker/config.json'), '{ "currentContext": "colima" }')
    const meta = { Name: 'colima', Endpoints: { docker: { Host: `unix://${home}/colima.sock` } } }
    writeFileSync(join(home, '.docker/contexts/meta', id, 'meta.json'), JSON.stringify(meta))
    expect(findEngine({ HOME: home })).toEqual({ socketPath: `${home}/colima.sock` })
    expect(findEngine({ HOME: home, DOCKER_HOST: '', DOCKER_CONTEXT: '' })).toEqual(findEngine({ HOME: home }))
    writeFileSync(join(home, '.docker/config.json'), 'not JSON')
    mkdirSync(join(home, 'run/podman'), { recursive: true })
    const server = createServer().listen(join(home, 'run/podman/podman.sock'))
    await once(server, 'listening')
    expect(['/var/run/docker.sock', join(home, 'run/podman/podman.sock')]).toContain(
      (findEngine({ HOME: home, XDG_RUNTIME_DIR: join(home, 'run') }) as { readonly socketPath: string }).socketPath,
    )
    server.close()
  })
})

describe('a failure of an engine', () => {
  it.each([
    ['OCI runtime create failed: exec: "perl": executable file not found in $PATH', 500, 'ENOEXECUTOR', 'has no perl'],
    [
      'invalid mount config for type "bind": bind source path does not exist: /home/me/secret',
      400,
      'EBUSY',
      'changed while',
    ],
    ['No such image: debian:stable-slim', 404, 'ENOEXECUTOR', 'not have the image'],
    ['No such container: 1234', 404, 'EBUSY', 'was removed'],
    ['error creating overlay mount to /var/lib/docker/x: no space left on device', 500, 'ENOSPC', 'is full'],
    ['something at /home/me/secret', 500, 'ENOEXECUTOR', 'refused (status 500)'],
  ])('is told without its paths: %s', (text, status, code, reason) => {
    const error = engineError(new EngineError(text, { status }))
    expect(error).toMatchObject({ code, reason: expect.stringContaining(reason) })
    expect(String(error)).not.toMatch(/\/home|\/var|1234/)
  })

  it('that does not answer names the remedy', () => {
    const told = (code: string) => String(engineError(new EngineError(`connect ${code} /run/docker.sock`, { code })))
    expect(told('ECONNREFUSED')).toMatch(/ENOEXECUTOR.*does not answer.*start its service/)
    expect(told('EACCES')).toMatch(/may not use the container engine.*group `docker`/)
    expect(told('EACCES')).not.toContain('.sock')
  })
})

describe('containers that a host has left', () => {
  it('are removed when their process has ended, and those of another user or machine are left alone', async () => {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    const namespace = readlinkSync('/proc/self/ns/pid')
    const uid = String(process.getuid?.())
    const labels = {
      dead: [boot, namespace, uid, '4194303', '1'],
      reused: [boot, namespace, uid, String(process.pid), '1'],
      machine: ['another', namespace, uid, '4194303', '1'],
      namespace: [boot, 'pid:[1]', uid, '4194303', '1'],
      user: [boot, namespace, '4242', '4194303', '1'],
      strange: ['x'],
    }
    const listed = Object.entries(labels).map(([Id, owner]) => ({ Id, Labels: { 'dev.ws.owner': owner.join(' ') } }))
    const removed: string[] = []
    const call = async (method: string, path: string) => {
      if (method === 'GET') return [...listed, { Id: 'unlabelled' }]
      removed.push(path)
      throw new EngineError('gone', { status: 404 })
    }
    await removeLeftovers({ call } as never)
    expect(removed).toEqual(['/containers/dead?force=1&v=1', '/containers/reused?force=1&v=1'])
  })
})
