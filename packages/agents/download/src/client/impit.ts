import { problems } from '../errors.ts'
import { user, type Client } from './client.ts'

/** impit compares encoding names case-sensitively: a body in `GZIP` or `x-gzip` would stay encoded. */
const encodings: ReadonlySet<string> = new Set(['identity', 'gzip', 'deflate', 'br', 'zstd'])

/** A client that imitates a browser; `undefined` where its binary is not installed. */
export async function loadImpitClient(): Promise<Client | undefined> {
  const loaded = await import('impit').catch(() => undefined)
  if (loaded === undefined) return undefined
  const { Impit } = loaded
  return {
    name: 'impit',
    async get({ url, proxy, signal, timeout }) {
      const impit = new Impit({
        browser: 'chrome',
        proxyUrl: `http://${user}:${proxy.password}@127.0.0.1:${proxy.port}`,
        followRedirects: false,
        timeout,
      })
      const response = await impit.fetch(url.href, { signal, redirect: 'manual' })
      const encoding = response.headers.get('content-encoding') ?? 'identity'
      if (!encodings.has(encoding)) {
        response.abort()
        throw problems.encoding(encoding)
      }
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        body: response.body as AsyncIterable<Uint8Array>,
        close: async () => undefined,
      }
    },
  }
}
