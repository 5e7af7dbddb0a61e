import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

import { drawAnswer, drawFrom, drawRequests, oddAnswers, openOddServer, rounds } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { respondRaw } from '../../src/gate/raw-answer.ts'
import { HostRequests } from '../../src/gate/index.ts'
import { createAuthority } from '../../src/requests/authority.ts'
import { drain, listOf, openGate } from './bench.ts'

const allow = ['api.test', 'other.test']
const get = 'GET / HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n'
const upgrade = 'GET / HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

async function open({ isRuled = false } = {}) {
  const origin = await openOddServer()
  onTestFinished(() => origin[Symbol.asyncDispose]())
  const requests = isRuled
    ? {
        hosts: new HostRequests({ 'api.test': [{ match: { method: 'GET' } }] }, listOf(...allow).entries),
        authority: await createAuthority([{ name: 'api.test' }]),
      }
    : undefined
  const { connect: reach } = await openGate({
    allow,
    origin: origin.port,
    limits: { connections: 1000 },
    ...(requests && { requests }),
  })
  return {
    origin,
    async ask(request: string, { isOver = false } = {}): Promise<string> {
      const socket = await reach('api.test', 80)
      socket.write(request, 'latin1')
      if (isOver) socket.end()
      const answer = await drain(socket)
      socket.destroy()
      return answer
    },
  }
}

/** Errors that no handler has caught, and that would end the process. */
function hearFaults(): readonly unknown[] {
  const faults: unknown[] = []
  const hear = (error: unknown): void => void faults.push(error)
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, hear)
    onTestFinished(() => void process.off(event, hear))
  }
  return faults
}

const result = (answer: string): number | string => {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2)
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
  if (status === 502 && body.includes('gave an answer that HTTP/1.1 does not allow')) return 'refused'
  const length = /^content-length: (\d+)/im.exec(head)?.[1]
  const isWhole =
    length === undefined ? !/chunked/i.test(head) || /(?:^|\n)0\r\n/.test(answer) : body.length === Number(length)
  return isWhole ? status : 'cut'
}

describe.each([
  ['plain', { isRuled: false }, get],
  ['with rules for requests', { isRuled: true }, get],
  ['a WebSocket that is asked for', { isRuled: false }, upgrade],
])('answers of a host, %s', (kind, options, request) => {
  it('[HO4] come through where HTTP allows them, and are a 502 where it does not', async () => {
    const { origin, ask } = await open(options)
    const isSwitch = request === upgrade
    for (const { name, result: expected, ...odd } of oddAnswers) {
      origin.answer = odd
      const answer = await ask(request)
      if (isSwitch && name === 'a 101 that was not asked for') expect(answer, name).toMatch(/^HTTP\/1\.1 101 .*raw$/s)
      else expect(result(answer), `${kind}: ${name}`).toBe(expected)
      // the reason of the host is not copied
      expect(answer.split('\r\n', 1)[0], name).toMatch(/^HTTP\/1\.1 \d{3} [A-Za-z ]+$/)
    }
  })
})

it('[HO4] at random leave the process alive, and each request is answered or cut', { tags: 'rounds' }, async () => {
  const faults = hearFaults()
  const { origin, ask } = await open()
  for (const round of rounds({ quick: 60, seconds: 15 })) {
    origin.answer = drawAnswer(drawFrom(round))
    const answer = await ask(round % 5 === 4 ? upgrade : get)
    if (answer !== '') expect(answer, `round ${round}`).toMatch(/^HTTP\/1\.1 [1-5]\d\d [A-Za-z -]+\r\n/)
    expect(faults, `round ${round}`).toEqual([])
  }
})

it('[HO4] keep each byte of their headers, also those of a 101', async () => {
  const { origin, ask } = await open()
  origin.answer = { bytes: 'HTTP/1.1 200 OK\r\nX-Name: gr\xf6\xdfe\r\nContent-Length: 2\r\n\r\nok' }
  expect(await ask(get)).toContain('\r\nX-Name: gr\xf6\xdfe\r\n')
  const accept = 'Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: gr\xf6\xdfe\r\n'
  origin.answer = { bytes: `HTTP/1.1 101 x\x01\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\n${accept}\r\nraw` }
  const answer = await ask(upgrade)
  expect(answer).toContain(`HTTP/1.1 101 Switching Protocols\r\n${accept}`)
  expect(answer).toMatch(/\r\n\r\nraw$/)
  origin.answer = { bytes: 'HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\nraw' }
  expect(result(await ask(upgrade))).toBe('refused')
})

it.each([
  ['a tunnel', 'CONNECT api.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n'],
  ['WebSocket', upgrade],
  ['HTTP/2', upgrade.replace('websocket', 'h2c')],
])('[HO4] %s that is asked for behind a request does not end the process', async (_, second) => {
  const faults = hearFaults()
  const { origin, ask } = await open()
  origin.answer = { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' }
  const first = 'GET / HTTP/1.1\r\nHost: api.test\r\n'
  expect(await ask(`${first}\r\n${second}`)).not.toContain('HTTP/1.1 101')
  // Node itself answers the first
  expect(await ask(`${first}Expect: x\r\n\r\n${second}`)).toMatch(/^HTTP\/1\.1 417 /u)
  expect(result(await ask(get))).toBe(200)
  expect(faults).toEqual([])
})

it('[HO4] an answer on a connection that waits for another one ends it, and throws nothing', () => {
  const socket = new Socket()
  const request = new IncomingMessage(socket)
  new ServerResponse(request).assignSocket(socket)
  expect(respondRaw(request, socket, () => 'written')).toBeUndefined()
  expect(socket.destroyed).toBe(true)
})

it('[HO4] requests at random leave the process alive, whatever the host answers', { tags: 'rounds' }, async () => {
  const faults = hearFaults()
  const [plain, ruled] = [await open(), await open({ isRuled: true })]
  for (const round of rounds({ quick: 100, seconds: 15 })) {
    const { origin, ask } = round % 2 === 0 ? plain : ruled
    origin.answer = drawAnswer(drawFrom(round + 1))
    await ask(drawRequests(drawFrom(round)), { isOver: true })
    expect(faults, `round ${round}`).toEqual([])
  }
  plain.origin.answer = { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' }
  expect(result(await plain.ask(get))).toBe(200)
})
