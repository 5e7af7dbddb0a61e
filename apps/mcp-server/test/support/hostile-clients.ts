import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { dial, headOf, hostileMessages, leaveUnread, pipeline, sendByteByByte } from './hostile.ts'
import { callOf, startHttp, startStdio, memoryOf } from './victims.ts'

const mebibyte = 1024 * 1024
/** MiB that the heap of an attacked server has. */
const heap = 512
/** Milliseconds of processor time for which others wait at most. */
const longestTurn = 50

interface Attack {
  /** Bytes that are sent at least, in rounds. */
  readonly bytes: number
  /** Of each message at once. */
  readonly copies: number
}

/** Sends hostile messages over HTTP, and looks how the next client is served. */
export async function attackHttp({ bytes, copies }: Attack): Promise<void> {
  const { child, root, url, post, longestTurn: measured } = await startHttp({ heap })
  await writeFile(join(root, 'large.txt'), 'x'.repeat(mebibyte - 1))
  const works = async (): Promise<void> => {
    const answer = await post(callOf('next', 'list', { path: '/workspace' }))
    expect(await answer.text()).toContain('large.txt')
  }
  // work that is done for the first time is slow
  await works()
  await works()
  await sendByteByByte(url, 10_000)
  await measured()
  const look = async (name: string): Promise<void> => expect.soft(await measured(), name).toBeLessThan(longestTurn)
  for (let sent = 0; sent < bytes; ) {
    const byteByByte = Math.min(1_000_000, bytes / 160)
    const answers = await Promise.all(Array.from({ length: copies }, () => sendByteByByte(url, byteByByte / copies)))
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 (?:200|400) /u)
    sent += byteByByte * 6
    await look('bytes one by one')
    await Promise.all(Array.from({ length: copies }, () => pipeline(url, 1_000)))
    await look('requests one after the other')
    for (const target of [url.href, `http://evil.example.com${url.pathname}`, 'ftp://x/mcp', '//x/mcp']) {
      const { write, read } = await dial(url)
      const body = callOf('a', 'list', { path: '/workspace' })
      await write(`${headOf(target, url.host, `content-length: ${body.length}`)}${body}`)
      const status = { [url.href]: 200, 'ftp://x/mcp': 400, '//x/mcp': 404 }[target] ?? 403
      expect((await read()).split(' ')[1], target).toBe(String(status))
    }
    await look('addresses')
    const free = await leaveUnread(url, 24)
    await look('unread answers')
    free()
    await expect.poll(works, { timeout: 30_000 }).toBeUndefined()
    for (const { name, body } of hostileMessages) {
      const answers = await Promise.all(Array.from({ length: copies }, () => post(body)))
      for (const answer of answers) {
        expect([200, 400, 413, 503], name).toContain(answer.status)
        await answer.text()
        sent += body.length
      }
      await look(name)
    }
    const endless = new AbortController()
    const calls = Array.from({ length: 40 }, () =>
      post(callOf('endless', 'execute', { command: 'sleep 1000' }), endless.signal).catch(() => undefined),
    )
    await Promise.race(calls)
    endless.abort()
    await Promise.all(calls)
    await expect.poll(works, { timeout: 30_000 }).toBeUndefined()
  }
  await look('endless calls')
  expect(child.exitCode).toBe(null)
}

/** The same over standard input and output, and `calls` whose answers are not taken. */
export async function attackStdio({ bytes, copies, calls }: Attack & { readonly calls: number }): Promise<void> {
  const { child, root, send, answers, lines, longestTurn: measured } = await startStdio({ heap })
  await writeFile(join(root, 'large.txt'), 'x'.repeat(mebibyte - 1))
  let count = 0
  lines.on('line', () => (count += 1))
  const works = async (id: string): Promise<void> => {
    await send(callOf(id, 'list', { path: '/workspace' }))
    await expect.poll(() => answers.get(id), { timeout: 60_000 }).toContain('large.txt')
  }
  await works('first')
  await works('second')
  await measured()
  const look = async (name: string): Promise<void> => expect.soft(await measured(), name).toBeLessThan(longestTurn)
  for (let sent = 0; sent < bytes; ) {
    for (const { name, body } of hostileMessages) {
      const before = count
      for (let copy = 0; copy < copies; copy += 1) await send(body)
      await expect.poll(() => count - before, { timeout: 60_000, message: name }).toBe(copies)
      sent += body.length * copies
      await look(name)
    }
  }
  await works('after the messages')

  const idle = memoryOf(child).now
  lines.pause()
  const read = (id: number): string => {
    const uri = 'workspace:///workspace/large.txt'
    const large = { jsonrpc: '2.0', id, method: 'resources/read', params: { uri } }
    return id % 100 === 0 ? JSON.stringify(large) : callOf(id, 'list', { path: '/workspace' })
  }
  let isStuck = false
  const sending = (async () => {
    for (let id = 0; id < calls; id += 1) {
      const timer = setTimeout(() => (isStuck = true), 500)
      await send(read(id))
      clearTimeout(timer)
    }
  })()
  await expect.poll(() => isStuck, { timeout: 60_000 }).toBe(true)
  expect((memoryOf(child).now - idle) / mebibyte).toBeLessThan(128)
  lines.resume()
  await sending
  const all = Array.from({ length: calls }, (_, id) => id)
  await expect.poll(() => all.filter((id) => !answers.has(id)), { timeout: 120_000 }).toEqual([])

  const ids = Array.from({ length: 40 }, (_, index) => `endless ${index}`)
  for (const id of ids) await send(callOf(id, 'execute', { command: 'sleep 1000' }))
  for (const requestId of ids) {
    await send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }))
  }
  await works('after the endless calls')
  expect(ids.filter((id) => answers.has(id))).toEqual([])
  await look('unread answers and endless calls')
}
