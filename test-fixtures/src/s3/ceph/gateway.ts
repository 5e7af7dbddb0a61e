import { setTimeout as delay } from 'node:timers/promises'

import type { Daemon } from './programs.ts'

/** The gateway's process, which can restart over the same objects. */
export interface Gateway {
  /** `undefined` while it is down. */
  readonly pid: number | undefined
  /** SIGKILL: running requests get no answer, whether they took effect or not. Resolves at its end. */
  kill(): Promise<void>
  /** SIGTERM; resolves when the process is gone. */
  stop(): Promise<void>
  /** Starts it at the same port; resolves when it answers. Does nothing while it runs. */
  start(options?: GatewayStartOptions): Promise<void>
  /** SIGKILL, then a new process over the same objects. */
  restart(options?: GatewayStartOptions): Promise<void>
}

export interface GatewayStartOptions {
  readonly signal?: AbortSignal
}

export function createGateway(endpoint: string, startDaemon: () => Promise<Daemon>): Gateway {
  let running: Daemon | undefined
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    const daemon = running
    running = undefined
    await daemon?.kill(signal)
  }
  const gateway: Gateway = {
    get pid() {
      return running?.pid
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    async start({ signal } = {}) {
      if (running !== undefined) return
      signal?.throwIfAborted()
      const daemon = await startDaemon()
      running = daemon
      const gone = new AbortController()
      void daemon.exited.then((how) => {
        if (running === daemon) running = undefined
        gone.abort(new Error(how))
      })
      await untilAnswered(endpoint, AbortSignal.any(signal === undefined ? [gone.signal] : [gone.signal, signal]))
    },
    async restart(options) {
      await gateway.kill()
      await gateway.start(options)
    },
  }
  return gateway
}

/** Polls, since no event tells when a server answers. */
async function untilAnswered(endpoint: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      const response = await fetch(endpoint, { signal })
      await response.arrayBuffer()
      return
    } catch {
      await delay(25)
    }
  }
}
