import { fetch, ProxyAgent } from 'undici'

import { user, type Client } from './client.ts'

const headers = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.9',
}

/** The plain client. */
export const undiciClient: Client = {
  name: 'undici',
  async get({ url, proxy, signal, ca }) {
    const dispatcher = new ProxyAgent({
      uri: `http://127.0.0.1:${proxy.port}`,
      token: `Basic ${Buffer.from(`${user}:${proxy.password}`).toString('base64')}`,
      proxyTunnel: url.protocol === 'https:',
      ...(ca !== undefined && { requestTls: { ca } }),
    })
    const close = (): Promise<void> => dispatcher.destroy().catch(() => undefined)
    try {
      const response = await fetch(url, { redirect: 'manual', signal, dispatcher, headers })
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        body: response.body ?? nothing(),
        close,
      }
    } catch (error) {
      await close()
      throw error
    }
  },
}

// eslint-disable-next-line require-yield
async function* nothing(): AsyncGenerator<Uint8Array> {}
