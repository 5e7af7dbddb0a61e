import { type Connections, isWorkspaceError } from '@ws/core'
import { type ConnectionReport, execError, type HostsRule } from '@ws/core/executor'
import type { Downloader } from '@ws/download'
import { RefusedHosts, verdictOf } from '@ws/network/gate'
import type { CommandEnd } from '@ws/sandbox'

import type { ResolvedNetwork } from '../options.ts'
import type { Fetched, FetchRequest } from '../worker/protocol.ts'

const longestTimer = 2_147_483_647

type CreateDownloader = typeof import('@ws/download').createDownloader

/** @throws WorkspaceError `ENOEXECUTOR` if `@ws/download` is not installed */
export async function loadDownloader(): Promise<CreateDownloader> {
  try {
    const { createDownloader } = await import('@ws/download')
    return createDownloader
  } catch (native) {
    throw execError('ENOEXECUTOR', '`network` needs the package `@ws/download`, which is not installed', {
      remedy: 'install it beside `@ws/executor-virtual`',
      native,
    })
  }
}

export interface DownloadOptions {
  readonly create: CreateDownloader
  readonly network: ResolvedNetwork
  /** Rules of the workspace that narrow the list of hosts. */
  readonly rules: readonly HostsRule[]
  readonly maxBytes: number
  readonly signal: AbortSignal
  readonly onConnection: ((report: ConnectionReport) => void) | undefined
}

/** The downloads of one command. The downloader is opened on first use. */
export class CommandDownloads {
  readonly #options: DownloadOptions
  readonly #refused = new RefusedHosts()
  #downloader: Downloader | undefined

  readonly #connections: Connections

  constructor(options: DownloadOptions) {
    this.#options = options
    const { network, rules, onConnection } = options
    this.#connections = {
      judge: verdictOf(network.list.narrow(rules)), // @defence `.narrow(rules)` a script of the interpreter that downloads: narrowed by a rule
      report: (report) => {
        this.#refused.hear(report)
        onConnection?.(report)
      },
    }
  }

  async fetch({ url, follow, timeout }: FetchRequest): Promise<Fetched> {
    const { maxBytes, signal } = this.#options
    // Node's timers accept whole numbers up to a limit, and throw for all other numbers
    const late = timeout === undefined ? [] : [AbortSignal.timeout(Math.min(Math.ceil(timeout), longestTimer))]
    const both = AbortSignal.any([signal, ...late])
    try {
      this.#downloader ??= this.#open()
      const redirect = follow ? 'follow' : 'manual'
      const { status, stream } = await this.#downloader.open(url, {
        ...{ maxBytes, redirect, anyStatus: true, signal: both },
        connections: this.#connections,
      })
      const body = Buffer.concat(await Array.fromAsync(stream))
      return { status, body }
    } catch (error) {
      if (isWorkspaceError(error)) return { code: error.code, reason: `${error.reason}; ${error.remedy}` }
      if (both.aborted) return { code: 'ETIMEDOUT', reason: 'the time is over' }
      throw error
    }
  }

  /** Ends all downloads. The result then contains their refusals. */
  async close(): Promise<void> {
    await this.#downloader?.close()
  }

  addRefusedTo(end: CommandEnd): CommandEnd {
    return this.#refused.addTo(end)
  }

  #open(): Downloader {
    const { create, network } = this.#options
    const { addresses, resolve } = network
    return create({ client: 'undici', addresses, resolve })
  }
}
