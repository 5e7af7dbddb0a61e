import { user, type Client } from './client.ts'

/** The client that speaks as a browser does. `undefined` where its binary is not installed. */
export async function loadImpitClient(): Promise<Client | undefined> {
  const loaded = await import('impit').catch(() => undefined)
  if (loaded === undefined) return undefined
  const { Impit } = loaded
  return {
    name: 'impit',
    async get({ url, proxy, signal }) {
      const impit = new Impit({
        browser: 'chrome',
        proxyUrl: `http://${user}:${proxy.password}@127.0.0.1:${proxy.port}`,
        followRedirects: false,
      })
      const response = await impit.fetch(url.href, { signal, redirect: 'manual' })
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        body: response.body as AsyncIterable<Uint8Array>,
        close: async () => undefined,
      }
    },
  }
}
