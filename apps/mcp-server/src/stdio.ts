import { serveStdio as serveConnection, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import type { Readable, Writable } from 'node:stream'

import { reportError } from './report.ts'
import { createServer } from './server/create-server.ts'
import { loadSkills } from './server/skills.ts'
import { addSubscriptions, isListen, watchListened } from './server/subscriptions.ts'
import { createSource } from './source/source.ts'
import type { OpenedWorkspace, Served, SourceOptions } from './types.ts'

/** Bytes of one message, as over HTTP. A longer one ends the connection. */
const maxMessageBytes = 16 * 1024 * 1024

export interface StdioOptions extends SourceOptions {
  /** Default: those of the process. */
  readonly input?: Readable | undefined
  readonly output?: Writable | undefined
  /** Hears of messages that cannot be served. Default: one line on standard error. Never write to the output. */
  readonly onError?: ((error: Error) => void) | undefined
}

export interface StdioServer extends Served {
  /** Resolves when the client has closed its end. */
  readonly closed: Promise<void>
}

/**
 * Serves a workspace to one client over standard input and output, in either version of the protocol that the client
 * speaks. The workspace stays its creator's to close.
 *
 * @throws WorkspaceError `ENOEXECUTOR` where no executor meets `commands`
 */
export async function serveStdio(opened: OpenedWorkspace, options: StdioOptions = {}): Promise<StdioServer> {
  const source = createSource(opened, options)
  const skills = await loadSkills(opened)
  const { input = process.stdin, output = process.stdout, onError = reportError } = options
  const transport = new StdioServerTransport(input, output, { maxBufferSize: maxMessageBytes })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const stops: (() => void)[] = []
  const handle = serveConnection(
    ({ era }) => {
      const server = createServer(source, skills, { streams: true })
      stops.push(addSubscriptions(server, source, era))
      return server
    },
    {
      transport: listening(
        transport,
        (message) => {
          if (!isListen(message)) return undefined
          return watchListened(source.watch, message).then((stop) => void stops.push(stop), onError)
        },
        () => void close(),
      ),
      onerror: onError,
    },
  )
  let ending: Promise<void> | undefined
  async function end(): Promise<void> {
    for (const stop of stops) stop()
    await handle.close()
    await source.close()
    resolve()
  }
  function close(): Promise<void> {
    ending ??= end()
    return ending
  }
  return { closed, close, [Symbol.asyncDispose]: close }
}

/** The transport, where `before` can hold up a message, and with it those behind it. */
function listening(
  inner: Transport,
  before: (message: JSONRPCMessage) => Promise<void> | undefined,
  closed: () => void,
): Transport {
  let turn: Promise<void> | undefined
  const outer: Transport = {
    start: async () => {
      inner.onmessage = (message, extra) => {
        const deliver = (): void => outer.onmessage?.(message, extra)
        const work = before(message)
        if (work === undefined && turn === undefined) return deliver()
        const mine = Promise.all([turn, work]).then(deliver)
        turn = mine
        void mine.finally(() => {
          if (turn === mine) turn = undefined
        })
      }
      inner.onerror = (error) => outer.onerror?.(error)
      inner.onclose = () => {
        outer.onclose?.()
        closed()
      }
      await inner.start()
    },
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  }
  return outer
}
