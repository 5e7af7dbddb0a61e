import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

import { problems } from '../errors.ts'
import { user, type Client } from './client.ts'

const headers = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.9',
  'accept-encoding': 'gzip, br',
}

// own decoders: `fetch` would accept a truncated compressed body as complete
const decoders: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])

export const undiciClient: Client = {
  name: 'undici',
  async get({ url, proxy, signal, ca }) {
    const undici = await import('undici')
    const dispatcher = new undici.ProxyAgent({
      uri: `http://127.0.0.1:${proxy.port}`,
      token: `Basic ${Buffer.from(`${user}:${proxy.password}`).toString('base64')}`,
      proxyTunnel: url.protocol === 'https:',
      // the downloader limits the time
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(ca !== undefined && { requestTls: { ca } }),
    })
    const close = (): Promise<void> => dispatcher.destroy().catch(() => undefined) // no caller waits for these connections
    try {
      const response = await undici.request(url, { signal, dispatcher, headers })
      const header = (name: string): string | undefined => {
        const value = response.headers[name]
        return typeof value === 'string' ? value : value?.join(', ')
      }
      return { status: response.statusCode, header, body: decoded(response.body, header), close }
    } catch (error) {
      await close()
      throw error
    }
  },
}

function decoded(body: Readable, header: (name: string) => string | undefined): Readable {
  // an unread body may emit an error too
  body.on('error', () => undefined)
  const encoding = header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || header('content-length') === '0') return body
  const decoder = decoders.get(encoding)?.()
  if (decoder === undefined) throw problems.encoding(encoding)
  // the decoder can fail again after the pipeline has removed its listeners
  decoder.on('error', () => undefined) // @defence a server whose body is not in its encoding: is not read, ends nothing
  // errors of the body and of the decoder reach the decoder, which the caller reads
  return pipeline(body, decoder, () => undefined)
}
