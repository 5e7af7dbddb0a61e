/** @module-tag all */
import { component, deep, describeWith, processesWith, until } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createFuzzer } from './support/fuzz.ts'
import { callOf, memoryOf, startHttp, startStdio } from './support/victims.ts'

const mebibyte = 1024 * 1024
const messages = deep ? 2_000 : 100
const warmUps = 300

/** A call as large as the largest message of the fuzz. */
const largeWrite = (id: unknown): string =>
  callOf(id, 'write', { path: '/workspace/large.txt', content: 'x'.repeat(100_000) })

describe('a server under attack', { timeout: 240_000 }, () => {
  it('answers malformed messages over HTTP, and 500 calls at once, within 128 MiB over idle', {
    tags: 'rounds',
  }, async () => {
    const { child, post, said } = await startHttp()
    const works = async () =>
      expect(await (await post(callOf(1, 'list', { path: '/workspace' }))).text()).toContain('result')
    // idle after work: V8 grows its young generation to its full size first
    for (let index = 0; index < warmUps; index += 1) {
      expect(await (await post(largeWrite(index))).text()).toContain('result')
    }
    const idle = memoryOf(child).now

    const fuzz = createFuzzer(1)
    const failed: string[] = []
    for (let count = 0; count < messages; count += 10) {
      const batch = Array.from({ length: 10 }, () => fuzz.next())
      await Promise.all(
        batch.map(async (message) => {
          const answer = await post(message)
          const said = await answer.text()
          if (answer.status >= 500)
            failed.push(`${answer.status}: ${said.slice(0, 200)} to ${message.toString('latin1').slice(0, 80)}`)
        }),
      )
    }
    expect(failed).toEqual([])
    await works()

    const statuses = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const answer = await post(
          callOf(index, 'write', { path: `/workspace/${index}.txt`, content: 'x'.repeat(1_000) }),
        )
        return answer.body === null ? 0 : (await answer.text(), answer.status)
      }),
    )
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([])
    await works()

    const huge = callOf(1, 'write', { path: '/workspace/huge.txt', content: 'x'.repeat(17 * mebibyte) })
    expect((await post(huge)).status).toBe(413)
    await works()
    expect((memoryOf(child).most - idle) / mebibyte).toBeLessThan(128)
    // no control character of a message reaches a terminal
    expect(said()).not.toMatch(/[^\n\P{Cc}]/u)
  })

  // after the transport, they are the same to a server
  it('answers malformed messages over stdio, and 500 calls at once, within 128 MiB over idle', {
    tags: 'deep',
  }, async () => {
    const { child, send, answers, said } = await startStdio()
    const works = async (id: string) => {
      await send(callOf(id, 'list', { path: '/workspace' }))
      await expect.poll(() => answers.get(id), { timeout: 60_000 }).toContain('result')
    }
    for (let index = 0; index < warmUps; index += 1) {
      await send(largeWrite(`warm ${index}`))
      await expect.poll(() => answers.get(`warm ${index}`), { timeout: 60_000, interval: 2 }).toContain('result')
    }
    const idle = memoryOf(child).now
    const fuzz = createFuzzer(2)
    for (let count = 0; count < messages; count += 1) await send(fuzz.next())
    await works('after the fuzz')
    const ids = Array.from({ length: 500 }, (_, index) => `call ${index}`)
    for (const id of ids) await send(callOf(id, 'write', { path: `/workspace/${id}.txt`, content: 'x'.repeat(1_000) }))
    await expect.poll(() => ids.filter((id) => !answers.has(id)), { timeout: 60_000 }).toEqual([])
    await works('at the end')
    expect((memoryOf(child).most - idle) / mebibyte).toBeLessThan(128)
    expect(said()).not.toMatch(/[^\n\P{Cc}]/u)
    child.stdin?.end()
  })

  it('answers a call over stdio whose argument nests 200,000 levels, and goes on', async () => {
    const { child, send, answers } = await startStdio()
    const deep = '['.repeat(200_000) + ']'.repeat(200_000)
    await send(callOf('deep', 'read', { path: 'DEEP' }).replace('"DEEP"', deep))
    await send(callOf('after', 'list', { path: '/workspace' }))
    await expect.poll(() => answers.get('deep')).toContain('rror')
    await expect.poll(() => answers.get('after')).toContain('result')
    child.stdin?.end()
  })

  it('sends no escape sequence of a name to a terminal', async () => {
    const { post, said } = await startHttp()
    const name = '\u001b]0;owned\u0007\u001b[31m.txt'
    const asked = [
      callOf(1, 'write', { path: `/workspace/${name}`, content: 'x' }),
      callOf(2, 'list', { path: '/workspace' }),
      callOf(3, 'read', { path: `/workspace/missing ${name}` }),
      callOf(4, name, {}),
      JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'resources/list', params: {} }),
      JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'resources/read', params: { uri: `workspace:///${name}` } }),
      JSON.stringify({ jsonrpc: '2.0', id: 7, method: name, params: {} }),
    ]
    for (const body of asked) {
      const answer = await (await post(body)).text()
      expect(answer).not.toMatch(/[^\r\n\P{Cc}]/u)
    }
    expect(said()).not.toMatch(/[^\n\P{Cc}]/u)
  })
})

describeWith([component('bubblewrap')], 'a client that disappears in the middle of a command', () => {
  // in the command line of the shell in the sandbox
  const loopWith = (mark: string) => `while :; do sleep 0.1; done # ${mark}`
  const isRunning = (mark: string): boolean => processesWith(mark).length > 0

  it('leaves no process over HTTP, and the server goes on', async () => {
    const mark = `ws-mcp-http-${process.pid}`
    const { post } = await startHttp({ executor: 'bubblewrap' })
    const client = new AbortController()
    const call = post(callOf(1, 'execute', { command: loopWith(mark) }), client.signal)
    await until(() => isRunning(mark))
    client.abort()
    await expect(call).rejects.toThrow()
    await until(() => !isRunning(mark))
    expect(await (await post(callOf(2, 'execute', { command: 'echo alive' }))).text()).toContain('alive')
  })

  it('leaves no process over stdio, and the server ends', async () => {
    const mark = `ws-mcp-stdio-${process.pid}`
    const { child, send, ended } = await startStdio({ executor: 'bubblewrap' })
    await send(callOf(1, 'execute', { command: loopWith(mark) }))
    await send(callOf(2, 'execute', { command: loopWith(mark), background: true }))
    await until(() => processesWith(mark).length > 1)
    child.stdin?.destroy()
    child.stdout?.destroy()
    await ended
    await until(() => !isRunning(mark))
  })

  it('ends a command that the client cancels', async () => {
    const mark = `ws-mcp-cancel-${process.pid}`
    const { send, answers } = await startStdio({ executor: 'bubblewrap' })
    await send(callOf('long', 'execute', { command: loopWith(mark) }))
    await until(() => isRunning(mark))
    await send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long' } }))
    await until(() => !isRunning(mark))
    await send(callOf('next', 'execute', { command: 'echo alive' }))
    await expect.poll(() => answers.get('next'), { timeout: 20_000 }).toContain('alive')
    expect(answers.has('long')).toBe(false)
  })
})
