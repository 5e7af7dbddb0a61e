import { WorkspaceError } from '@ws/core'
import type { ConnectionsOptions, Workspace } from '@ws/core'
import type { ConnectionReport } from '@ws/core/executor'
import { checkUrl, createDownloader, type Download, type Downloader, type OpenOptions } from '@ws/download'

import type { ToolsOptions } from '../types.ts'

export interface Downloads {
  readonly downloader: Downloader
  readonly hosts: ConnectionsOptions['hosts']
  close(): Promise<void>
}

/**
 * The downloads of a toolset. `undefined` where they are switched off, and where commands have no network and no host is listed.
 *
 * @throws WorkspaceError `EINVAL` that names the option
 */
export function openDownloads(workspace: Workspace, given: ToolsOptions['downloads'] = {}): Downloads | undefined {
  if (given === false) return undefined
  const { hosts, downloader, ...options } = 'open' in given ? { hosts: undefined, downloader: given } : given
  const opened = downloader ?? createDownloader(options)
  if (hosts !== undefined) workspace.connections({ hosts })
  const network = workspace.executor?.guarantees.network
  if (hosts === undefined && network !== 'names' && network !== 'none') return undefined
  return { downloader: opened, hosts, close: async () => (downloader === undefined ? opened.close() : undefined) }
}

export interface JudgedDownload {
  readonly download: Download
  /** To be called when it is over. */
  end(receivedBytes?: number): void
}

/**
 * Opens a download whose hosts the workspace judges and audits. The first and the last URL are judged here as well: a downloader
 * of the caller's own may leave the question out.
 */
export async function openJudged(
  workspace: Workspace,
  { downloader, hosts }: Downloads,
  url: string,
  { path, ...options }: OpenOptions & { readonly path: string },
): Promise<JudgedDownload> {
  const { judge, report } = workspace.connections({ path, hosts })
  const time = Date.now()
  let isTold = false
  const tell = (rest: Omit<ConnectionReport, 'time' | 'duration' | 'sentBytes'>): void => {
    report({ ...rest, time, duration: Date.now() - time, sentBytes: 0 })
  }
  const admit = (text: string): { readonly host: string; readonly port: number } => {
    const { hostname: host, protocol, port: given } = checkUrl(text)
    const port = Number(given || (protocol === 'http:' ? 80 : 443))
    const verdict = judge(host, port)
    if (verdict.effect === 'allow') return { host, port }
    const { rule = 'network', reason, remedy } = verdict
    tell({ host, port, outcome: 'denied', rule, reason, remedy, receivedBytes: 0 })
    throw new WorkspaceError({ code: 'EACCES', operation: 'download', rule, reason: `\`${host}\` ${reason}`, remedy })
  }
  const first = admit(url)
  const connections: OpenOptions['connections'] = {
    judge,
    report(one) {
      isTold = true
      report(one)
    },
  }
  const download = await downloader.open(url, { ...options, connections }).catch((error: unknown) => {
    if (!isTold) tell({ ...first, outcome: 'failed', reason: 'was not reached', receivedBytes: 0 })
    throw error
  })
  try {
    const last = admit(download.url)
    const end = (receivedBytes = 0): void => {
      if (!isTold) tell({ ...last, outcome: 'allowed', receivedBytes })
    }
    return { download, end }
  } catch (error) {
    await download.stream.return?.()
    throw error
  }
}
