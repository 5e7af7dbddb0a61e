import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { onTestFinished } from 'vitest'

import type { Client } from '../src/client/client.ts'
import { loadImpitClient } from '../src/client/impit.ts'
import { undiciClient } from '../src/client/undici.ts'
import { LiveDownloader } from '../src/downloader.ts'
import type { DownloaderOptions } from '../src/types.ts'

/** The address that plays the public network in tests. Every other loopback address is private. */
export const publicAddress = '127.0.0.3'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

export interface Site {
  readonly port: number
  /** Requests that reached a private address: must stay empty. */
  readonly stolen: readonly string[]
  readonly url: (path: string, host?: string) => string
  readonly open: (options?: SiteOptions) => LiveDownloader
}

export interface SiteOptions extends DownloaderOptions {
  /** Addresses by name; default: any name has the public address. */
  readonly resolve?: (name: string) => Promise<readonly string[]>
  readonly clients?: readonly Client[]
}

/** A hostile server at a "public" address, and a server with secrets at the same port of a private one. */
export async function openSite(handler: Handler): Promise<Site> {
  const stolen: string[] = []
  const port = await listenBoth(handler, stolen)
  const both = await loadImpitClient()
  return {
    port,
    stolen,
    url: (path, host = 'site.example') => `http://${host}:${port}${path}`,
    open: ({ resolve = async () => [publicAddress], clients, ...options } = {}) => {
      const downloader = new LiveDownloader(options, {
        egress: {
          resolve,
          permits: (address) => address === publicAddress,
          ports: new Set([port, 80, 443]),
          tor: options.tor,
        },
        clients: async () => clients ?? (both === undefined ? [undiciClient] : [both, undiciClient]),
      })
      onTestFinished(() => downloader.close())
      return downloader
    },
  }
}

/** Both at one port, which may be taken at the private address. */
async function listenBoth(handler: Handler, stolen: string[]): Promise<number> {
  for (;;) {
    const server = createServer(handler)
    await listen(server, publicAddress, 0)
    const { port } = server.address() as AddressInfo
    const secrets = createServer((request, response) => {
      stolen.push(`${request.headers.host} ${request.url}`)
      response.end('secret')
    })
    secrets.on('connection', () => stolen.push('connection'))
    try {
      await listen(secrets, '127.0.0.1', port)
      return port
    } catch {
      server.close()
    }
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
}

export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
