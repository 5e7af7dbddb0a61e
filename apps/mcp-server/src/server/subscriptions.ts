import type { McpServer } from '@modelcontextprotocol/server'

import type { Source } from '../source/source.ts'
import { pathOf, uriOf } from '../source/uris.ts'

/**
 * Subscriptions on one connection that stays open. A client of the older protocol names each file; the newer one has
 * its streams filtered on the way out. The caller calls what this returns when the connection ends.
 */
export function addSubscriptions(server: McpServer, { watch }: Source, era: 'legacy' | 'modern'): () => void {
  const subscribed = new Set<string>()
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
      subscribed.add(uri)
      await watchUri(watch, uri)
      return {}
    })
    server.server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
      subscribed.delete(uri)
      return {}
    })
  }
  return watch.on((path) => {
    const uri = uriOf(path)
    if (era === 'legacy' && !subscribed.has(uri)) return
    server.server.sendResourceUpdated({ uri }).catch(() => undefined)
  })
}

/** Has the files watched that a message of the newer protocol asks to be told of. Resolves when no change is missed any more. */
export async function watchListened(watch: Source['watch'], message: unknown): Promise<void> {
  for (const uri of listenedIn(message)) await watchUri(watch, uri)
}

async function watchUri(watch: Source['watch'], uri: string): Promise<void> {
  const path = pathOf(uri)
  if (path !== undefined) await watch.add(path)
}

function listenedIn(message: unknown): string[] {
  if (!isListen(message)) return []
  const { params } = message as {
    readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } }
  }
  const uris = params?.notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string').slice(0, 1_000) : []
}

/** A request for a stream of changes, which stays open. */
export function isListen(message: unknown): boolean {
  return (
    typeof message === 'object' && message !== null && 'method' in message && message.method === 'subscriptions/listen'
  )
}
