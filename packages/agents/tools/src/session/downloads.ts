import { type Connections, type ExplainRequest, type Workspace, WorkspaceError } from '@ws/core'
import type { ConnectionReport } from '@ws/core/executor'
import { checkUrl, createDownloader, type Download, type Downloader } from '@ws/download'

import { placeOf } from '../bridge/accesses.ts'
import type { ToolsOptions } from '../types.ts'

export interface Downloads {
  readonly downloader: Downloader
  readonly hosts: ExplainRequest['hosts']
  close(): Promise<void>
}

/** The downloads of a toolset; `undefined` if switched off, or if neither commands nor `hosts` allow any host. */
export function openDownloads(workspace: Workspace, given: ToolsOptions['downloads'] = {}): Downloads | undefined {
  if (given === false) return undefined
  const { hosts, downloader, ...options } = 'open' in given ? { hosts: undefined, downloader: given } : given
  const opened = downloader ?? createDownloader(options)
  if (hosts !== undefined) workspace.connections({ hosts })
  const network = workspace.executor?.guarantees.network
  if (hosts === undefined && network !== 'names' && network !== 'none') return undefined // @defence a way out where commands have none: no face offers them
  return { downloader: opened, hosts, close: async () => (downloader === undefined ? opened.close() : undefined) }
}

/** Judges and audits hosts. The first and the last URL are judged here too, since a custom downloader may not ask the policy. */
export async function openJudged(
  workspace: Workspace,
  { downloader, hosts }: Downloads,
  url: string,
  { path, ...options }: Parameters<Downloader['open']>[1] & { readonly path: string },
): Promise<Download> {
  const { judge, report } = workspace.connections({ path, hosts })
  const time = Date.now()
  let asks = false
  const tell = (at: string, rest: Pick<ConnectionReport, 'outcome'> & Partial<ConnectionReport>): void => {
    const moved = { sentBytes: 0, receivedBytes: 0, duration: Date.now() - time }
    report({ ...placeOf(new URL(at)), time, ...moved, ...rest })
  }
  const admit = (at: string): void => {
    const { host, port } = placeOf(checkUrl(at))
    const verdict = judge(host, port)
    if (verdict.effect === 'allow') return
    const { rule = 'network', reason, remedy } = verdict
    tell(at, { outcome: 'denied', rule, reason, remedy })
    throw new WorkspaceError({ code: 'EACCES', operation: 'download', rule, reason: `\`${host}\` ${reason}`, remedy })
  }
  admit(url) // @defence a tool that downloads from a host: before anything goes out
  const asking: Connections['judge'] = (host, port) => {
    asks = true
    return judge(host, port)
  }
  const judged = { ...options, connections: { judge: asking, report } }
  const download = await downloader.open(url, judged).catch((error: unknown) => {
    if (!asks) tell(url, { outcome: 'failed', reason: 'was not reached' })
    throw error
  })
  try {
    admit(download.url)
  } catch (error) {
    await download.stream.return?.()
    throw error
  }
  if (!asks) tell(download.url, { outcome: 'allowed', receivedBytes: download.size ?? 0 })
  return download
}
