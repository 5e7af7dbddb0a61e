import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'

import { describeWith } from '../../src/index.ts'
import { s3ServerNames, startCephServer, startR2Server } from '../../src/s3/index.ts'
import { s3Needs } from '../../src/s3/shared/index.ts'
import { descendants, isAlive } from './processes.ts'

/** The directories that servers keep in this file's temporary directory. */
const directories = () => readdirSync(tmpdir()).filter((name) => name.startsWith('ws-'))

// each test starts and ends servers
for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `${name} by itself`, { tags: 'deep' }, () => {
    it('leaves no process and no directory when it is closed, also when that is done twice', async () => {
      const server = name === 'ceph' ? await startCephServer() : await startR2Server()
      const started = descendants(process.pid)
      expect(directories()).toHaveLength(1)
      await Promise.all([server.close(), server.close()])
      await server.close()
      expect({ alive: started.filter(isAlive), directories: directories() }).toEqual({ alive: [], directories: [] })
    })

    it('leaves neither when the process that started it is killed', async () => {
      const sample = join(import.meta.dirname, 'start-and-wait.sample.ts')
      const child = spawn(process.execPath, [sample, name], { stdio: ['ignore', 'pipe', 'inherit'] })
      const exit = once(child, 'exit')
      await Promise.race([once(createInterface(child.stdout), 'line'), exit])
      const started = descendants(child.pid ?? 0)
      // the server, and what removes the directory
      expect(started.length).toBeGreaterThanOrEqual(2)
      expect(directories()).toHaveLength(1)
      child.kill('SIGKILL')
      await exit
      // no process is left that could report the end
      await expect
        .poll(() => ({ alive: started.filter(isAlive), directories: directories() }), { timeout: 20_000 })
        .toEqual({ alive: [], directories: [] })
    })
  })
}

describeWith(s3Needs('ceph'), 'the gateway of Ceph', { tags: 'deep' }, () => {
  it('keeps what was stored when it is killed and started again', async () => {
    await using server = await startCephServer()
    const { bucket: Bucket, gateway } = server
    const client = server.client({ maxAttempts: 1 })
    await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'content' }))
    const { pid } = gateway
    await gateway.kill()
    expect(gateway.pid).toBeUndefined()
    await expect(client.send(new GetObjectCommand({ Bucket, Key: 'kept' }))).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
    await gateway.restart()
    expect(gateway.pid).not.toBe(pid)
    const got = await client.send(new GetObjectCommand({ Bucket, Key: 'kept' }))
    expect(await got.Body?.transformToString()).toBe('content')
  })

  it('says why it cannot start again', async () => {
    await using server = await startCephServer()
    await server.gateway.kill()
    const squatter = createServer((socket) => socket.destroy())
    squatter.listen(Number(new URL(server.endpoint).port), '127.0.0.1')
    await once(squatter, 'listening')
    await expect(server.gateway.start()).rejects.toThrow(/radosgw ended with/u)
    await promisify(squatter.close.bind(squatter))()
    await server.gateway.start()
    expect(server.gateway.pid).toBeGreaterThan(0)
  })

  it('gives up when it is told to, says so with the ends of the logs, and leaves nothing', async () => {
    const before = descendants(process.pid).length
    const caller = new AbortController()
    const starting = startCephServer({ signal: caller.signal })
    starting.catch(() => undefined)
    await expect.poll(() => directories().flatMap(logsIn), { interval: 5, timeout: 20_000 }).toContain('mon.a.log')
    caller.abort(new Error('no more'))
    await expect(starting).rejects.toThrow(/Ceph did not start: Error: no more[^]*--- mon/u)
    expect(directories()).toEqual([])
    // a command of the start may be on its way out
    await expect
      .poll(() => descendants(process.pid).filter(isAlive).length, { timeout: 5000 })
      .toBeLessThanOrEqual(before)
  })

  it('gives up at its deadline, and leaves nothing', async () => {
    await expect(startCephServer({ timeout: 1 })).rejects.toThrow(/TimeoutError/u)
    expect(directories()).toEqual([])
  })
})

/** Names of the logs of a server that have something in them. */
function logsIn(directory: string): string[] {
  const logs = join(tmpdir(), directory, 'log')
  if (!existsSync(logs)) return []
  return readdirSync(logs).filter((name) => statSync(join(logs, name)).size > 0)
}
