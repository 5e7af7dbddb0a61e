import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'

import { PacedConnection } from '../src/http/connection.ts'

const sent = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251))

/** A connection, and the other end of it. */
async function open(): Promise<{ readonly connection: PacedConnection; readonly client: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  const connection = new PacedConnection(socket)
  onTestFinished(() => {
    client.destroy()
    connection.destroy()
    server.close()
  })
  return { connection, client }
}

describe('[MC2] a connection', () => {
  it('gives its reader a little at a time, and others a turn after each 5 ms of its work', async () => {
    const { connection, client } = await open()
    let inTurn = 0
    let most = 0
    let immediate = setImmediate(function next() {
      inTurn = 0
      immediate = setImmediate(next)
    })
    onTestFinished(() => clearImmediate(immediate))
    const received: Buffer[] = []
    connection.on('data', (bytes: Buffer) => {
      received.push(bytes)
      inTurn += 1
      most = Math.max(most, inTurn)
      for (const end = performance.now() + 6; performance.now() < end; );
    })
    client.end(sent)
    await once(connection, 'end')
    expect(Buffer.concat(received)).toEqual(sent)
    expect(Math.max(...received.map(({ length }) => length))).toBeLessThanOrEqual(4096)
    expect(most).toBe(1)
  })

  it('reads on only while its reader does, and writes to a client that has ended its side', async () => {
    const { connection, client } = await open()
    const received: Buffer[] = []
    connection.on('data', (bytes: Buffer) => {
      received.push(bytes)
      if (received.length === 3) connection.pause()
    })
    client.end(sent)
    await once(connection, 'pause')
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(received).toHaveLength(3)
    connection.resume()
    await once(connection, 'end')
    expect(Buffer.concat(received)).toEqual(sent)
    connection.write('answer ')
    connection.end('and end')
    const answer: Buffer[] = []
    for await (const bytes of client) answer.push(bytes as Buffer)
    expect(Buffer.concat(answer).toString()).toBe('answer and end')
    if (!connection.closed) await once(connection, 'close')
  })
})
