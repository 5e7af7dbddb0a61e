import { Writable } from 'node:stream'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type AccessEvent } from '@ws/core'
import { expect, it } from 'vitest'

import { createAuditLog } from '../src/index.ts'

/** A stream that holds its writes until it is told to go on. */
function slowStream(highWaterMark = 1): { stream: Writable; lines: () => unknown[]; goOn: () => Promise<void> } {
  let text = ''
  let release: (() => void) | undefined
  let open = false
  const stream = new Writable({
    highWaterMark,
    write(chunk: Buffer, _, done) {
      text += chunk.toString()
      if (open) return done()
      release = done
    },
  })
  const goOn = async (): Promise<void> => {
    open = true
    release?.()
  }
  const lines = (): unknown[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown)
  return { stream, lines, goOn }
}

const event = (path: string): AccessEvent => ({
  labels: {},
  time: 1,
  door: 'files',
  operation: 'read',
  path,
  outcome: 'allowed',
  duration: 1,
})

it('writes the events of several workspaces, a line each', async () => {
  const { stream, lines, goOn } = slowStream()
  await goOn()
  const log = createAuditLog(stream)
  const workspaces = await Promise.all(
    ['t1', 't2'].map((thread) => {
      const adapter = (): ReturnType<typeof createMemoryAdapter> => createMemoryAdapter({ files: { '/k': 'k' } })
      return createWorkspace({ mounts: [{ at: '/', adapter }], rules: [rules.deny('/k')], labels: { thread } })
    }),
  )
  for (const workspace of workspaces) {
    workspace.on('access', log.record)
    await workspace.write('/a', 'a\n')
    await workspace.readText('/k').catch(() => undefined)
    await workspace.close()
  }
  await log.close()
  const one = (thread: string) => [
    { labels: { thread }, operation: 'write', outcome: 'allowed' },
    { labels: { thread }, operation: 'read', outcome: 'denied', rule: 'deny(/k)' },
  ]
  expect(lines()).toMatchObject([...one('t1'), ...one('t2')])
  expect(log.dropped).toBe(0)
})

it('holds lines back while the stream is full, up to its bound, and shows each gap in its place', async () => {
  const { stream, lines, goOn } = slowStream()
  const size = Buffer.byteLength(`${JSON.stringify(event('/0'))}\n`)
  const dropped: string[] = []
  const log = createAuditLog(stream, {
    maxPendingBytes: 2 * size,
    onDropped: ({ path }) => {
      dropped.push(path)
      throw new Error('of the listener')
    },
  })
  for (let index = 0; index < 6; index += 1) log.record(event(`/${index}`))
  expect(stream.writableLength).toBe(size)
  expect(dropped).toEqual(['/3', '/4', '/5'])
  await goOn()
  await log.flush()
  log.record(event('/6'))
  await log.flush()
  expect(lines()).toEqual([
    event('/0'),
    event('/1'),
    event('/2'),
    { time: expect.any(Number), dropped: 3 },
    event('/6'),
  ])
  expect(log.dropped).toBe(3)
  await log.close()
  log.record(event('/7'))
  expect(log.dropped).toBe(4)
})

it('says by flush and close that its stream has failed or is closed, and ends nothing else', async () => {
  const failure = new Error('no space')
  const stream = new Writable({ write: (_, __, done) => done(failure) })
  const log = createAuditLog(stream)
  log.record(event('/0'))
  await expect(log.flush()).rejects.toMatchObject({
    code: 'EIO',
    message: expect.stringMatching(/has failed; make another log/),
  })
  log.record(event('/1'))
  expect(log.dropped).toBe(1)
  await expect(log.close()).rejects.toMatchObject({ code: 'EIO' })

  const { stream: waiting } = slowStream()
  const other = createAuditLog(waiting)
  for (const path of ['/0', '/1', '/2']) other.record(event(path))
  const flushed = other.flush()
  waiting.destroy()
  await expect(flushed).rejects.toMatchObject({ code: 'EIO', message: expect.stringMatching(/is closed/) })
  expect(other.dropped).toBe(2)
})

it('refuses options that are wrong', () => {
  const { stream } = slowStream()
  for (const make of [
    () => createAuditLog({} as Writable),
    () => createAuditLog(stream, { maxPendingBytes: 0 }),
    () => createAuditLog(stream, { maxPending: 1 } as object),
  ]) {
    expect(make).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  }
})
