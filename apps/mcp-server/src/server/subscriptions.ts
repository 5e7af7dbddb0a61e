import { ProtocolError, ProtocolErrorCode, type McpServer } from '@modelcontextprotocol/server'

import { MessageError } from '../messages/errors.ts'
import type { Source } from '../source/source.ts'
import { pathOf, uriOf } from '../source/uris.ts'

/** Limits of the files that a stream watches, and of the characters of their URIs: an open stream keeps its list in memory. */
const maxListened = 1_000
const maxListLength = 256 * 1024

/** Adds subscriptions for a connection: older clients subscribe to files, newer clients open streams. Returns a function that ends both. */
export function addSubscriptions(server: McpServer, { watch }: Source, era: 'legacy' | 'modern'): () => void {
  const subscribed = new Map<string, () => void>()
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
      // a URI that names no file never changes
      if (subscribed.has(uri) || pathOf(uri) === undefined) return {}
      const stop = await inWords(() => watchUris(watch, [uri]))
      if (subscribed.has(uri)) stop()
      else subscribed.set(uri, stop)
      return {}
    })
    server.server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
      subscribed.get(uri)?.()
      subscribed.delete(uri)
      return {}
    })
  }
  const stop = watch.on((path) => {
    const uri = uriOf(path)
    if (era === 'legacy' && !subscribed.has(uri)) return
    server.server.sendResourceUpdated({ uri }).catch(() => undefined) // a client that has disconnected needs no message
  })
  return () => {
    stop()
    for (const one of subscribed.values()) one()
    subscribed.clear()
  }
}

async function inWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
    const code = error.status === 503 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
    throw new ProtocolError(code, error.message)
  }
}

/** Watches a message's files until the returned function is called. Resolves when the watch has begun. @throws MessageError 413, 503 */
export function watchListened(watch: Source['watch'], message: unknown): Promise<() => void> {
  return watchUris(watch, listenedIn(message))
}

async function watchUris(watch: Source['watch'], uris: readonly string[]): Promise<() => void> {
  const length = uris.reduce((sum, uri) => sum + uri.length, 0)
  if (uris.length > maxListened || length > maxListLength) {
    throw new MessageError(413, `a stream watches at most ${maxListened} files, by ${maxListLength} characters of URIs`)
  }
  const stops: (() => void)[] = []
  const stop = (): void => {
    for (const one of stops.splice(0)) one()
  }
  try {
    for (const uri of uris) {
      const path = pathOf(uri)
      if (path !== undefined) stops.push(await watch.add(path))
    }
  } catch (error) {
    stop()
    throw error
  }
  return stop
}

function listenedIn(message: unknown): string[] {
  if (!isListen(message)) return []
  const { params } = message as {
    readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } }
  }
  const uris = params?.notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
}

/** True for a request that opens a stream of changes. */
export function isListen(message: unknown): boolean {
  return (
    typeof message === 'object' && message !== null && 'method' in message && message.method === 'subscriptions/listen'
  )
}
