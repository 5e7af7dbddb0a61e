import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio'
import { quietly } from '@ws/core/options'
import type { Readable, Writable } from 'node:stream'

import { limitsOf } from '../messages/limits.ts'
import { reportError } from '../report.ts'
import { createServer } from '../server/create-server.ts'
import { loadSkills } from '../server/skills.ts'
import { addSubscriptions, watchListened } from '../server/subscriptions.ts'
import { createSource } from '../source/source.ts'
import type { MessageLimits, OpenedWorkspace, Served, SourceOptions } from '../types.ts'
import { LineTransport } from './transport.ts'

export interface StdioOptions extends SourceOptions, MessageLimits {
  /** Default: standard input and output of the process. */
  readonly input?: Readable | undefined
  readonly output?: Writable | undefined
  /** Called for messages that cannot be served. Default: one line on standard error. Must not write to the output. */
  readonly onError?: ((error: Error) => void) | undefined
}

export interface StdioServer extends Served {
  /** Resolves when the client has closed its end of the connection. */
  readonly closed: Promise<void>
}

/**
 * Serves a workspace to one client over stdio, in the client's protocol version. The caller closes the workspace.
 * @throws WorkspaceError `ENOEXECUTOR` where no executor meets `commands`
 */
export async function serveStdio(opened: OpenedWorkspace, options: StdioOptions = {}): Promise<StdioServer> {
  const source = createSource(opened, options)
  const skills = await loadSkills(opened)
  const { input = process.stdin, output = process.stdout } = options
  const onError = quietly(options.onError ?? reportError)
  const limits = limitsOf(options)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const stops: (() => void)[] = []
  const transport = new LineTransport({
    input,
    output,
    limits,
    listen: (message) => watchListened(source.watch, message),
  })
  const handle = serveConnection(
    ({ era }) => {
      const server = createServer(source, skills, { streams: true })
      stops.push(addSubscriptions(server, source, era))
      return server
    },
    { transport, onerror: onError, maxSubscriptions: limits.maxStreams },
  )
  const closeTransport = transport.onclose
  transport.onclose = () => {
    closeTransport?.()
    void close().catch(onError)
  }
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
