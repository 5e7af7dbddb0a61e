import { setTimeout as delay } from 'node:timers/promises'

import type { Daemon } from './programs.ts'

/** The gateway's process, which can restart over the same objects. */
export interface Gateway {
  /** The process id; `undefined` while the gateway is down. */
  readonly pid: number | undefined
  /** Sends SIGKILL. Running requests get no answer, whether they took effect or not. Resolves when the process has ended. */
  kill(): Promise<void>
  /** Sends SIGTERM. Resolves when the process has ended. */
  stop(): Promise<void>
  /** Starts the gateway at the same port. Resolves when it answers. Does nothing while the gateway runs. */
  start(options?: GatewayStartOptions): Promise<void>
  /** Sends SIGKILL, then starts a new process over the same objects. */
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

/** Polls until the server answers, since no event reports that. */
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
