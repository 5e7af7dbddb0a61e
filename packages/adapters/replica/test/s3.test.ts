import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, describeWith } from '@ws/test-fixtures'
import { s3ServerNames, type S3Server, type S3ServerName } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { at, failureOf, filesOf, machineOf, put } from './support/site.ts'

for (const name of s3ServerNames)
  describeWith(s3Needs(name), `a bucket on ${name}`, { tags: name === 'r2' ? [] : ['deep'] }, () => testServer(name))

/** The servers ignore conditions on deletions, and the versions are ETags. */
function testServer(name: S3ServerName): void {
  let server: S3Server
  let used = 0
  beforeAll(async () => {
    server = await sharedS3Server(name)
  })
  afterAll(() => server.close())

  const place = () => {
    used += 1
    const { bucket, endpoint, region, credentials } = server
    return { bucket, prefix: `threads/t${used}`, endpoint, region, credentials, symlinks: 'rclonelink' } as const
  }
  const open = (options: ReturnType<typeof place>): Promise<StorageAdapter> => createS3Adapter(options)

  it.each([
    ['a file', 'rm -r d; echo new > d', { '/d': 'new\n' }],
    ['a link', 'mv d real; ln -s real d', { '/d': '-> real', '/real': 'directory', '/real/x': 'old' }],
    ['another directory', 'mv d t; mkdir d; mv t/x d/y; rmdir t', { '/d': 'directory', '/d/y': 'old' }],
  ])('[RE3, HO5] a directory that becomes %s loses nothing', async (_, command, files) => {
    const options = place()
    const store = await open(options)
    await put(store, '/d/x', 'old')
    const { replica, root } = await machineOf(store)
    const run = promisify(execFile)
    const end = await replica.beginCommand?.({})
    await run('/bin/sh', ['-c', command], { cwd: root })
    await end?.()
    await replica.flush()
    for (const one of [replica, await open(options), (await machineOf(await open(options))).replica])
      expect(await filesOf(one)).toEqual(files)
  })

  it.each([
    ['a directory', 'mkdir d.rclonelink; echo x > d.rclonelink/f', '/d.rclonelink'],
    ['a file', 'echo x > f.rclonelink', '/f.rclonelink'],
  ])('[HO5] %s whose name the store cannot keep stops nothing, and is named', async (_, command, path) => {
    const { replica, root } = await machineOf(await open(place()))
    const run = promisify(execFile)
    const turn = async (line: string): Promise<void> => {
      const end = await replica.beginCommand?.({})
      await run('/bin/sh', ['-c', line], { cwd: root })
      await end?.()
    }
    await turn(command)
    expect(replica.status().leftOut.map((left) => left.path.split('/', 2).join('/'))).toContain(path)
    await turn('echo more > other')
    expect(await filesOf(replica)).toMatchObject({ '/other': 'more\n' })
    await turn(`rm -r .${path}`)
    await replica.flush()
    expect(replica.status().leftOut).toEqual([])
  })

  it('[RE6] holds one object for each file, with bits, links and empty directories as the S3 adapter keeps them', async () => {
    const options = place()
    const store = await open(options)
    await put(store, '/in/a.txt', 'a')
    const { replica, root } = await machineOf(store, { persist: 'flush' })
    expect(await filesOf(replica)).toEqual({ '/in': 'directory', '/in/a.txt': 'a' })
    await put(replica, '/out/run.sh', '#!/bin/sh\n')
    await replica.chmod?.(at('/out/run.sh'), 0o755)
    await replica.createSymlink?.(at('/out/link'), 'run.sh')
    await replica.createDirectory(at('/empty'))
    await replica.delete(at('/in/a.txt'))
    await replica.flush()
    const bare = await open(options)
    expect(await filesOf(bare)).toEqual({
      '/in': 'directory', // it was emptied, and not removed
      '/out': 'directory',
      '/out/run.sh': '#!/bin/sh\n',
      '/out/link': '-> run.sh',
      '/empty': 'directory',
    })
    expect((await bare.stat(at('/out/run.sh'))).mode).toBe(0o755)
    await replica.chmod?.(at('/out/run.sh'), 0o700)
    await replica.flush()
    const { stat, bytes } = await bare.read(at('/out/run.sh'))
    expect([stat.mode, new TextDecoder().decode(bytes)]).toEqual([0o700, '#!/bin/sh\n'])
    const other = await machineOf(bare)
    expect((await other.replica.stat(at('/out/run.sh'))).mode).toBe(0o700)
    expect(await filesOf(other.replica)).toEqual(await filesOf(replica))
    expect(other.root).not.toBe(root)
    await bare.close()
  })

  it('[RE3] keeps conflicts of two machines, and an edit wins over a deletion', { tags: 'all' }, async () => {
    const options = place()
    const [first, second] = [await open(options), await open(options)]
    await put(first, '/a.txt', 'base')
    await put(first, '/b.txt', 'base')
    await put(first, '/c.txt', 'base')
    const one = await machineOf(first, { persist: 'flush', machine: 'one' })
    const two = await machineOf(second, { persist: 'flush', machine: 'two' })
    await put(one.replica, '/a.txt', 'by one')
    await put(two.replica, '/a.txt', 'by two')
    await put(one.replica, '/b.txt', 'edited by one')
    await two.replica.delete(at('/b.txt'))
    await one.replica.delete(at('/c.txt'))
    await one.replica.flush()
    expect(await failureOf(two.replica.flush() as Promise<void>)).toMatchObject({ code: 'ECONFLICT', path: '/a.txt' })
    await two.replica.flush()
    await one.replica.refresh?.()
    const files = await filesOf(first)
    const [{ kept } = { kept: '' }] = two.replica.status().conflicts
    expect(files).toEqual({ '/a.txt': 'by one', [kept]: 'by two', '/b.txt': 'edited by one' })
    expect(await filesOf(one.replica)).toEqual(files)
    await two.replica.refresh?.()
    expect(await filesOf(two.replica)).toEqual(files)
  })

  it('[RE4] a tombstone that a killed machine has left is nothing to others, and its machine finishes it', {
    tags: 'all',
  }, async () => {
    const options = place()
    const [first, second] = [await open(options), await open(options)]
    await put(first, '/a.txt', 'base')
    await put(first, '/b.txt', 'b')
    const one = await machineOf(first, { persist: 'flush' })
    const { delete: remove } = first
    first.delete = () => Promise.reject(new Error('killed here'))
    await one.replica.delete(at('/a.txt'))
    await failureOf(one.replica.flush() as Promise<void>)
    const two = await machineOf(second, { persist: 'flush' })
    expect(await filesOf(two.replica)).toEqual({ '/b.txt': 'b' })
    // a new file of that name waits for the end of the deletion
    await put(two.replica, '/a.txt', 'new')
    expect(await failureOf(two.replica.flush() as Promise<void>)).toMatchObject({ code: 'EBUSY', path: '/a.txt' })
    first.delete = remove
    await one.replica.flush()
    await two.replica.flush()
    expect(await filesOf(second)).toEqual({ '/a.txt': 'new', '/b.txt': 'b' })
    await one.replica.refresh?.()
    expect(await filesOf(one.replica)).toEqual({ '/a.txt': 'new', '/b.txt': 'b' })
  })

  describeWith(component('bubblewrap'), 'and commands', { tags: 'all' }, () => {
    it('[RE1] python makes a virtual environment, and a command that changes nothing costs one listing', async () => {
      const store = await open(place())
      const { replica } = await machineOf(store)
      const workspace = await createWorkspace({
        mounts: [{ at: '/workspace', adapter: replica }],
        executors: [createBubblewrapExecutor()],
      })
      const { exitCode, stderr } = await workspace.exec(
        'python3 -m venv --without-pip .venv && .venv/bin/python -c "print(1)"',
      )
      expect([exitCode, stderr]).toEqual([0, ''])
      expect((await filesOf(store))['/.venv/bin/python3']).toMatch(/^-> /u)
      const calls: string[] = []
      for (const operation of [
        'stat',
        'read',
        'write',
        'list',
        'delete',
        'createDirectory',
        'chmod',
        'utimes',
      ] as const) {
        const call = store[operation]?.bind(store) as (...given: unknown[]) => unknown
        Object.assign(store, { [operation]: (...given: unknown[]) => (calls.push(operation), call(...given)) })
      }
      await workspace.exec('true')
      expect(calls).toEqual(['list'])
      await workspace.close()
    })
  })
}
