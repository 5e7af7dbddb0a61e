import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { connect } from 'node:tls'

import { describe, expect, it } from 'vitest'

import { readClientHello } from '../../src/gate/client-hello.ts'

/** The first message of Node's own client. */
async function helloOf(servername: string): Promise<Buffer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({
    port,
    host: '127.0.0.1',
    ...(servername !== '' && { servername }),
    rejectUnauthorized: false,
  })
  client.on('error', () => undefined)
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

const hello = await helloOf('registry.example')

/** Adds an extension at the end of the list. */
function withExtension(bytes: Buffer, type: number, content: Buffer): Buffer {
  const added = Buffer.concat([Buffer.alloc(4), content])
  added.writeUInt16BE(type, 0)
  added.writeUInt16BE(content.length, 2)
  const whole = Buffer.concat([bytes, added])
  let at = 5 + 4 + 34
  at += 1 + (whole[at] ?? 0)
  at += 2 + whole.readUInt16BE(at)
  at += 1 + (whole[at] ?? 0)
  whole.writeUInt16BE(whole.readUInt16BE(at) + added.length, at)
  whole.writeUInt16BE(whole.length - 5, 3)
  whole.writeUIntBE(whole.length - 9, 6, 3)
  return whole
}

const sniOf = (...names: readonly string[]): Buffer => {
  const list = Buffer.concat(
    names.map((name) => Buffer.concat([Buffer.from([0, 0, name.length]), Buffer.from(name, 'latin1')])),
  )
  return Buffer.concat([Buffer.from([0, list.length]), list])
}

describe('the first message of TLS', () => {
  it('[NW3] tells its name', () => {
    expect(readClientHello(hello)).toEqual({ name: 'registry.example' })
  })

  it('[NW3] tells that it has none', async () => {
    expect(readClientHello(await helloOf(''))).toEqual({ problem: 'names no host (it has no SNI)' })
  })

  it('waits for all of it, however it is cut', () => {
    for (let length = 0; length < hello.length; length++)
      expect(readClientHello(hello.subarray(0, length)), String(length)).toEqual({ more: true })
  })

  it('[NW3] reads it over several records', () => {
    const body = hello.subarray(5)
    const record = (part: Buffer) => Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part])
    const cut = Buffer.concat([record(body.subarray(0, 3)), record(body.subarray(3, 50)), record(body.subarray(50))])
    expect(readClientHello(cut)).toEqual({ name: 'registry.example' })
  })

  it('[NW3] refuses two names, in one list or in two', () => {
    expect(readClientHello(withExtension(hello, 0, sniOf('evil.test')))).toEqual({ problem: 'names two hosts' })
    const bare = withExtension(hello, 0x1234, Buffer.alloc(0))
    expect(readClientHello(bare)).toEqual({ name: 'registry.example' })
  })

  it('[NW3] refuses an encrypted hello, whose outer name is not the one that counts', () => {
    const hidden = withExtension(hello, 0xfe0d, Buffer.alloc(8))
    expect(readClientHello(hidden)).toMatchObject({ problem: expect.stringContaining('hides its host') })
  })

  it.each([
    ['plain text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['SSL 2', Buffer.from([0x80, 0x2e, 1, 0, 2])],
    ['another message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
    ['a message without end', Buffer.from([22, 3, 1, 64, 0, 1, 0xff, 0xff, 0xff])],
    ['lengths that lie', Buffer.concat([hello.subarray(0, 43), Buffer.alloc(hello.length - 43, 0xff)])],
  ])('[NW1] refuses %s', (_, bytes) => {
    expect(readClientHello(bytes)).toEqual({ problem: 'does not begin as TLS does' })
  })
})
