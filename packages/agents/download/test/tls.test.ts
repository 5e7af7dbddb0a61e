import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

import { expect, it, onTestFinished } from 'vitest'

import { loadImpitClient } from '../src/client/impit.ts'
import { undiciClient } from '../src/client/undici.ts'
import { LiveDownloader } from '../src/downloader.ts'
import { certificate, privateKey } from '@ws/test-fixtures'
import { collect, publicAddress } from './site.ts'

async function openSite(ca: string | undefined) {
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    if (request.url === '/down') response.writeHead(302, { location: 'http://localhost/' }).end()
    else response.end('secure')
  })
  server.listen(0, publicAddress)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const impit = await loadImpitClient()
  const downloader = new LiveDownloader(
    {},
    {
      egress: {
        resolve: async () => [publicAddress],
        permits: (address) => address === publicAddress,
        ports: new Set([port, 80]),
        tor: undefined,
      },
      clients: async () => (impit === undefined ? [undiciClient] : [impit, undiciClient]),
      ca,
    },
  )
  onTestFinished(async () => {
    await downloader.close()
    server.closeAllConnections()
    server.close()
  })
  return { downloader, url: (path: string, host = 'localhost') => `https://${host}:${port}${path}` }
}

it('[FS10] takes no certificate that nobody has signed', async () => {
  const { downloader, url } = await openSite(undefined)
  await expect(downloader.open(url('/'))).rejects.toMatchObject({
    code: 'EBACKEND',
    reason: /certificate of `localhost`/,
  })
})

it('[FS10] reads from a host whose certificate is trusted, and from no other name', async () => {
  const { downloader, url } = await openSite(certificate)
  const download = await downloader.open(url('/'))
  expect((await collect(download.stream)).toString()).toBe('secure')
  await expect(downloader.open(url('/', 'other.example'))).rejects.toMatchObject({ code: 'EBACKEND' })
})

it('follows no redirect from https to http', async () => {
  const { downloader, url } = await openSite(certificate)
  await expect(downloader.open(url('/down'))).rejects.toMatchObject({
    code: 'EACCES',
    reason: /from `https` to `http`/,
  })
})
