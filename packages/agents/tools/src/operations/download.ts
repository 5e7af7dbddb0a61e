import { createHash, type Hash } from 'node:crypto'

import { quotePath, type VirtualPath, WorkspaceError, type WriteResult } from '@ws/core'
import { decodeText } from '@ws/documents'
import { checkUrl, type Download } from '@ws/download'
import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import { placeOf } from '../bridge/accesses.ts'
import { openJudged } from '../session/downloads.ts'
import type { Call } from '../session/session.ts'
import { path } from './fields.ts'
import { operation } from './operation.ts'

export const download = operation({
  name: 'download',
  description:
    'Downloads a public http(s) address into a file, 50 MB at most. With `as: markdown` HTML becomes Markdown.',
  input: z.strictObject({
    url: z.string().min(1).describe('Address that begins with https:// or http://'),
    path,
    as: z.enum(['raw', 'markdown']).optional().describe('Default raw'),
  }),
  example: { url: 'https://example.com/data.csv', path: '/data/data.csv' },
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
  async handle(call, { url, path: given, as = 'raw' }) {
    const { downloads } = call.session
    const target = await call.resolve('download', given)
    if (downloads === undefined) throw notOffered(call, url, target)
    return call.alone([target], async () => {
      const found = await call.statBehindLinks(target)
      if (found !== undefined) throw isThere(target)
      const { signal } = call
      const maxBytes = as === 'markdown' ? maxHtmlBytes : undefined
      const download = await openJudged(call.workspace, downloads, url, { path: target, signal, maxBytes })
      const hash = createHash('sha256')
      let written: WriteResult
      try {
        const content = as === 'markdown' ? await markdownOf(call, download) : hashed(download.stream, hash)
        if (typeof content === 'string') hash.update(content)
        written = await call.workspace.write(target, content, { ifVersion: 'absent', signal })
      } finally {
        // a refused write has read nothing from the stream: close the connection
        await download.stream.return?.()
      }
      const { version, size } = written
      call.session.see(target, version)
      call.record({ change: 'created', path: target, after: version })
      const sha256 = hash.digest('hex')
      // keep only the plain type: a server may send any text
      const type = /^[\w.+-]+\/[\w.+-]+/u.exec(download.contentType ?? '')?.[0] ?? 'unknown type'
      return {
        text: `Downloaded ${download.url} to ${quotePath(target)}: ${size} bytes, ${type}, sha256 ${sha256}${call.versioned(` (version ${version})`)}.`,
        data: { path: target, url: download.url, size, contentType: download.contentType, sha256, version },
      }
    })
  },
})

/** HTML is converted to Markdown in memory, up to this size. */
const maxHtmlBytes = 8 * 1024 * 1024

async function* hashed(stream: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    hash.update(chunk)
    yield chunk
  }
}

async function markdownOf({ session, signal }: Call, { stream, url }: Download): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return session.documents.markdown(decodeText(Buffer.concat(chunks)).text, { url, signal })
}

/** The refusal of a call without a download tool. The audit records a refused connection. */
function notOffered({ session, workspace }: Call, url: string, path: VirtualPath): ToolProblem | WorkspaceError {
  if (session.options.downloads === false) {
    return new ToolProblem({
      sentence: '`download` is not offered: downloads are switched off',
      remedy: 'nothing was changed; ask the user for the file',
      next: { operation: 'list', arguments: { path: '.' } },
      data: { code: 'ENOTSUP', path },
    })
  }
  const to = placeOf(checkUrl(url))
  const why = 'cannot be reached: commands have no network, and `download` is not offered'
  const remedy = `ask the user for the file, or the operator for \`downloads: { hosts: ['${to.host}'] }\``
  const denied = { ...to, outcome: 'denied', rule: 'network', reason: why, remedy } as const
  workspace.connections({ path }).report({ ...denied, time: Date.now(), duration: 0, sentBytes: 0, receivedBytes: 0 })
  const reason = `\`${to.host}\` ${why}`
  return new WorkspaceError({ code: 'EACCES', operation: 'download', rule: 'network', reason, remedy })
}

function isThere(target: VirtualPath): ToolProblem {
  return new ToolProblem({
    sentence: `${quotePath(target)} exists already`,
    remedy: 'nothing was downloaded; choose another path',
    next: { operation: 'inspect', arguments: { path: target } },
    data: { code: 'EEXIST', path: target },
  })
}
