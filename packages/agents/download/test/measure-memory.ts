// Downloads hostile bodies from a server in another process, and prints by how many MiB the memory of this one grew.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { loadImpitClient } from '../src/client/impit.ts'
import { undiciClient } from '../src/client/undici.ts'
import { LiveDownloader } from '../src/downloader.ts'

const address = '127.0.0.3'
const server = spawn(
  process.execPath,
  [
    '-e',
    `
  process.stdin.resume().on('end', () => process.exit()) // ends with this process
  const { createServer } = require('node:http')
  const { createGzip } = require('node:zlib')
  const chunk = Buffer.alloc(65536)
  const server = createServer((request, response) => {
    response.writeHead(200, request.url === '/bomb' ? { 'content-encoding': 'gzip' } : {})
    const target = request.url === '/bomb' ? createGzip() : response
    if (target !== response) target.pipe(response)
    const more = () => { while (!response.destroyed && target.write(chunk)); if (!response.destroyed) target.once('drain', more) }
    more()
  })
  server.listen(0, '${address}', () => console.log(server.address().port))
  `,
  ],
  { stdio: ['pipe', 'pipe', 'inherit'] },
)
const [printed] = (await once(server.stdout, 'data')) as [Buffer]
const port = Number(printed)
const impit = process.argv[2] === 'impit' ? await loadImpitClient() : undefined
const downloader = new LiveDownloader(
  {},
  {
    egress: {
      resolve: async () => [address],
      permits: (found) => found === address,
      ports: new Set([port]),
      tor: undefined,
    },
    clients: async () => [impit ?? undiciClient],
  },
)

async function run(path: string, maxBytes: number): Promise<number> {
  let most = 0
  try {
    const { stream } = await downloader.open(`http://site.example:${port}${path}`, { maxBytes })
    let count = 0
    for await (const _chunk of stream) if (count++ % 50 === 0) most = Math.max(most, measure())
  } catch {
    // too large
  }
  return most
}

function measure(): number {
  globalThis.gc?.()
  return process.memoryUsage.rss()
}

await run('/endless', 1_000_000) // everything is loaded
const idle = measure()
const grown = { endless: await run('/endless', 50_000_000), bomb: await run('/bomb', 50_000_000) }
const mebibytes = Object.fromEntries(
  Object.entries(grown).map(([kind, most]) => [kind, Math.round((most - idle) / 2 ** 20)]),
)
await downloader.close()
server.kill()
console.log(JSON.stringify(mebibytes))
