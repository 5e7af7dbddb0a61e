import { Agent, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

import type { Refusal } from './refusals.ts'

export type Way = { readonly socket: Socket } | { readonly refusal: Refusal }

export class RefusedConnection extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.reason)
    this.refusal = refusal
  }
}

/** Keeps the connection to a host between the requests of one connection from inside. */
export class KeptConnections {
  readonly #agents = new WeakMap<Socket, Agent>()
  readonly #idleTimeout: number

  /** @param idleTimeout milliseconds without a byte after which a connection is cut */
  constructor(idleTimeout: number) {
    this.#idleTimeout = idleTimeout
  }

  agentFor(inner: Socket, open: () => Promise<Way>): Agent {
    const known = this.#agents.get(inner)
    if (known !== undefined) return known
    const agent = new Agent({ keepAlive: true, timeout: this.#idleTimeout })
    agent.createConnection = (_, callback) => {
      // never rejects: an unreachable host is a refusal
      const give = async (): Promise<void> => {
        const way = await open()
        if ('refusal' in way) callback?.(new RefusedConnection(way.refusal), undefined as never)
        else callback?.(null, way.socket)
      }
      void give()
      return undefined
    }
    inner.once('close', () => agent.destroy())
    this.#agents.set(inner, agent)
    return agent
  }

  end(inner: Socket): void {
    this.#agents.get(inner)?.destroy()
  }
}

/** Whether a request can be repeated when its kept connection ends: no body, no change. */
export function isRepeatable({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return !hasBody && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')
}
