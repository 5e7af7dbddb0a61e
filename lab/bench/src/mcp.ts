import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createTools } from '@ws/tools'

import { own, summary, type Report } from './measure.ts'
import { makeFile, openSite } from './site.ts'

const rounds = 15
const count = 40
const program = fileURLToPath(new URL('../../../apps/cli/src/index.ts', import.meta.url))
/** Microseconds that a call may take longer than a call in the same process. */
const targets = { stdio: 1_500, http: 3_000 } as const

export async function measureMcp(report: Report): Promise<void> {
  await using site = await openSite({ at: '/' })
  makeFile(`${site.directory}/small.txt`, `${'x'.repeat(63)}\n`.repeat(64))
  await using toolset = createTools(site.workspace, { face: 'split' })
  const args = ['--conditions=@ws/source', program, '--root', site.directory, 'mcp']
  const info = { name: 'bench', version: '1.0.0' }
  const options = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const
  const overStdio = new Client(info, options)
  const overHttp = new Client(info, options)
  const server = spawn(process.execPath, [...args, '--http', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
  try {
    await overStdio.connect(new StdioClientTransport({ command: process.execPath, args }))
    const [said] = (await once(server.stderr, 'data')) as [Buffer]
    const url = /http:\S+/u.exec(said.toString())?.[0] ?? ''
    await overHttp.connect(new StreamableHTTPClientTransport(new URL(url)))
    const input = { path: 'small.txt' }
    const call = { name: 'read', arguments: input }
    const ways = {
      process: () => toolset.run('read', input),
      stdio: () => overStdio.callTool(call),
      http: () => overHttp.callTool(call),
    }
    const best = { process: Infinity, stdio: Infinity, http: Infinity }
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ['process', 'stdio', 'http'] as const) best[way] = Math.min(best[way], await timeOf(ways[way]))
    }
    for (const way of ['stdio', 'http'] as const) {
      // on a loaded machine, only the fastest round measures the server
      const figures = [summary(own, [best[way] - best.process])]
      const name = `call over ${way}, beyond one in process (best of ${rounds})`
      report({ section: 'mcp', name, against: 'µs', target: targets[way], figures })
    }
  } finally {
    await overStdio.close()
    await overHttp.close()
    server.kill('SIGTERM')
    if (server.exitCode === null) await once(server, 'exit')
  }
}

/** Microseconds of one call. */
async function timeOf(work: () => Promise<{ readonly isError?: boolean | undefined }>): Promise<number> {
  const start = performance.now()
  for (let index = 0; index < count; index += 1) {
    const answer = await work()
    if (answer.isError === true) throw new Error(`a call was refused: ${JSON.stringify(answer)}`)
  }
  return ((performance.now() - start) * 1_000) / count
}
