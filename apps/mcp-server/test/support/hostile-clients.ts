import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { hostileMessages, leaveUnread, pipeline, sendAddresses, sendByteByByte } from './hostile.ts'
import { callOf, startHttp, startStdio, memoryOf } from './victims.ts'

const mebibyte = 1024 * 1024
/** MiB that the heap of an attacked server has. */
const heap = 512
/** Milliseconds of processor time for which others wait at most. */
const longestTurn = 50

/** Bytes that each attack sends at least, in rounds. */
const bytes = 512 * mebibyte
/** How many of each message are sent at once. */
const copies = 8
/** How many bytes come one by one in a round. */
const byteByByte = 1_000_000
/** Calls whose answers are not taken. */
const calls = 20_000

/** A garbage collection beside other work of the machine takes several times as long. A bound that does not hold is exceeded each time. */
const attempts = 3

/** Runs an attack, and expects that others waited for less than the longest turn. */
async function holds(name: string, measured: () => Promise<number>, attack: () => Promise<void>): Promise<void> {
  let longest = Number.POSITIVE_INFINITY
  for (let left = attempts; left > 0 && longest >= longestTurn; left -= 1) {
    await measured()
    await attack()
    longest = await measured()
  }
  expect.soft(longest, name).toBeLessThan(longestTurn)
}

/** Sends hostile messages over HTTP, and looks how the next client is served. */
export async function attackHttp(): Promise<void> {
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
  const look = (name: string, attack: () => Promise<void>): Promise<void> => holds(name, measured, attack)
  for (let sent = 0; sent < bytes; ) {
    await look('bytes one by one', async () => {
      const sending = Array.from({ length: copies }, () => sendByteByByte(url, byteByByte / copies))
      for (const answer of await Promise.all(sending)) expect(answer).toMatch(/^HTTP\/1\.1 (?:200|400) /u)
      sent += byteByByte * 6
    })
    await look('requests one after the other', async () => {
      await Promise.all(Array.from({ length: copies }, () => pipeline(url, 1_000)))
    })
    await look('addresses', () => sendAddresses(url))
    await look('unread answers', async () => {
      const free = await leaveUnread(url, 24)
      // more calls than one subject has, until their answers are taken
      expect([200, 503]).toContain((await post(callOf('beside', 'list', { path: '/workspace' }))).status)
      free()
      await expect.poll(works, { timeout: 30_000 }).toBeUndefined()
    })
    for (const { name, body } of hostileMessages) {
      await look(name, async () => {
        const answers = await Promise.all(Array.from({ length: copies }, () => post(body)))
        for (const answer of answers) {
          expect([200, 400, 413, 503], name).toContain(answer.status)
          await answer.text()
          sent += body.length
        }
      })
    }
    await look('endless calls', async () => {
      const endless = new AbortController()
      const calls = Array.from({ length: 40 }, () =>
        post(callOf('endless', 'execute', { command: 'sleep 1000' }), endless.signal).catch(() => undefined),
      )
      await Promise.race(calls)
      endless.abort()
      await Promise.all(calls)
      await expect.poll(works, { timeout: 30_000 }).toBeUndefined()
    })
  }
  expect(child.exitCode).toBe(null)
}

/** The same over standard input and output, and calls whose answers are not taken. */
export async function attackStdio(): Promise<void> {
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
  const look = (name: string, attack: () => Promise<void>): Promise<void> => holds(name, measured, attack)
  for (let sent = 0; sent < bytes; ) {
    for (const { name, body } of hostileMessages) {
      await look(name, async () => {
        const before = count
        for (let copy = 0; copy < copies; copy += 1) await send(body)
        await expect.poll(() => count - before, { timeout: 60_000, message: name }).toBe(copies)
        sent += body.length * copies
      })
    }
  }
  await works('after the messages')

  let round = 0
  await look('unread answers', async () => {
    const idle = memoryOf(child).now
    lines.pause()
    round += 1
    const ids = Array.from({ length: calls }, (_, index) => `read ${round} ${index}`)
    const uri = 'workspace:///workspace/large.txt'
    let isStuck = false
    const sending = (async () => {
      for (const [index, id] of ids.entries()) {
        const large = JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri } })
        const timer = setTimeout(() => (isStuck = true), 500)
        // spaces: the calls are more than the buffers of both ends hold
        await send(`${index % 100 === 0 ? large : callOf(id, 'list', { path: '/workspace' })}${' '.repeat(500)}`)
        clearTimeout(timer)
      }
    })()
    await expect.poll(() => isStuck, { timeout: 60_000 }).toBe(true)
    expect((memoryOf(child).now - idle) / mebibyte).toBeLessThan(128)
    lines.resume()
    await sending
    await expect.poll(() => ids.filter((id) => !answers.has(id)), { timeout: 120_000 }).toEqual([])
  })
  await look('endless calls', async () => {
    round += 1
    const ids = Array.from({ length: 40 }, (_, index) => `endless ${round} ${index}`)
    for (const id of ids) await send(callOf(id, 'execute', { command: 'sleep 1000' }))
    for (const requestId of ids) {
      await send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }))
    }
    await works(`after ${round}`)
    expect(ids.filter((id) => answers.has(id))).toEqual([])
  })
}
