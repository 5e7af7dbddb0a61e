import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createDownloader } from '../src/index.ts'
import { collect, openSite, publicAddress } from './site.ts'

interface Asked {
  readonly user: string
  readonly password: string
  readonly host: string
}

/** A SOCKS5 server that asks for user and password, notes what it is asked for, and resolves all names to one address. */
async function startTor(): Promise<{ readonly port: number; readonly asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer((socket) => void serve(socket, asked).catch(() => socket.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, asked }
}

async function serve(socket: Socket, asked: Asked[]): Promise<void> {
  socket.on('error', () => undefined)
  const next = async (): Promise<Buffer> => ((await once(socket, 'data')) as [Buffer])[0]
  await next()
  socket.write(Buffer.from([5, 2]))
  const login = await next()
  const userLength = login[1] ?? 0
  const user = login.toString('latin1', 2, 2 + userLength)
  const password = login.toString('latin1', 3 + userLength)
  socket.write(Buffer.from([1, 0]))
  const request = await next()
  // 3: a name
  const host = request[3] === 3 ? request.toString('latin1', 5, 5 + (request[4] ?? 0)) : `type ${request[3]}`
  asked.push({ user, password, host })
  const port = request.readUInt16BE(request.length - 2)
  const upstream = connect(port, publicAddress)
  await once(upstream, 'connect')
  socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
  upstream.pipe(socket)
  socket.pipe(upstream)
  upstream.on('error', () => socket.destroy())
}

describe('downloads through Tor', () => {
  it.each([401, 403, 503])(
    '[FS10] are tried after %i, each with an identity of its own, and the name is resolved there',
    async (status) => {
      const tor = await startTor()
      let requests = 0
      const site = await openSite((_, response) => {
        requests += 1
        if (requests % 2 === 1) response.writeHead(status).end()
        else response.end('welcome')
      })
      const downloader = site.open({ tor: { port: tor.port } })
      for (let round = 0; round < 2; round++) {
        const download = await downloader.open(site.url('/'))
        expect(download.throughTor).toBe(true)
        expect((await collect(download.stream)).toString()).toBe('welcome')
      }
      expect(tor.asked.map(({ host }) => host)).toEqual(['site.example', 'site.example'])
      expect(new Set(tor.asked.map(({ user, password }) => `${user} ${password}`)).size).toBe(2)
    },
  )

  it('[FS10] are the only ones where Tor is required', async () => {
    const tor = await startTor()
    const site = await openSite((_, response) => response.end('x'))
    let resolved = 0
    const downloader = site.open({
      tor: { port: tor.port },
      requireTor: true,
      resolve: async () => {
        resolved += 1
        return [publicAddress]
      },
    })
    await collect((await downloader.open(site.url('/'))).stream)
    expect({ resolved, asked: tor.asked.length }).toEqual({ resolved: 0, asked: 1 })
    for (const host of ['127.0.0.1', '2130706433', '[::1]', 'localhost', 'printer.local', publicAddress]) {
      await expect(downloader.open(site.url('/', host)), host).rejects.toMatchObject({ code: 'EACCES' })
    }
    expect(tor.asked).toHaveLength(1)
    expect(site.stolen).toEqual([])
  })

  it('[FS10] that are required, and have no Tor, fetch nothing', async () => {
    await using downloader = createDownloader({ requireTor: true })
    await expect(downloader.open('http://example.org/')).rejects.toMatchObject({ code: 'ENOTSUP' })
  })

  it('say that a host cannot be reached when Tor does not answer', async () => {
    const site = await openSite((_, response) => response.writeHead(403).end())
    const downloader = site.open({ tor: { port: 1 } })
    await expect(downloader.open(site.url('/'))).rejects.toMatchObject({ code: 'EBACKEND' })
  })
})
