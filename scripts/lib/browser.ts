import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { findSystemProgram } from '@ws/test-fixtures'

const page = `<!doctype html><title>bundle</title>
<script>
  const tell = (found) => fetch('/found', { method: 'POST', body: JSON.stringify(found) })
  addEventListener('error', ({ message }) => tell({ error: message }))
</script>
<script src="bundle.js"></script>
<script>
  const inWorker = new Promise((resolve, reject) => {
    const worker = new Worker('worker.js')
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message))
  })
  Promise.all([bundle.run(), inWorker]).then(
    ([page, worker]) => tell({ page, worker }),
    (error) => tell({ error: String(error) }),
  )
</script>`
const worker = `importScripts('bundle.js')
bundle.run().then(postMessage, (error) => setTimeout(() => { throw error }))`

/** The results of a bundle's `run()` in a page and in its worker, or an error. */
export interface BrowserRun {
  readonly page?: unknown
  readonly worker?: unknown
  readonly error?: string
}

export function findBrowser(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
  return names.map(findSystemProgram).find((path) => path !== undefined)
}

/** Calls a bundle's `run()` in a page of a browser, and in a worker of that page. Waits at most a minute. */
export async function runInBrowser(browser: string, code: string, profile: string): Promise<BrowserRun> {
  const answer = Promise.withResolvers<BrowserRun>()
  const parts = new Map([
    ['/', ['text/html; charset=utf-8', page]],
    ['/bundle.js', ['text/javascript; charset=utf-8', code]],
    ['/worker.js', ['text/javascript; charset=utf-8', worker]],
  ])
  const server = createServer((request, response) => {
    if (request.url === '/found') {
      const found = text(request).then((json) => JSON.parse(json) as BrowserRun)
      found.then(answer.resolve, answer.reject)
    }
    const [type, body] = parts.get(request.url ?? '') ?? []
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type ?? 'text/plain' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const quiet = ['--no-first-run', '--disable-gpu', '--disable-quic', '--disable-sync']
  const alone = ['--disable-background-networking', '--disable-component-update']
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [] // as root it starts in no other way
  const args = ['--headless', ...quiet, ...alone, ...asRoot, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/`]
  const child = spawn(browser, args, { stdio: 'ignore', detached: true })
  child.on('error', answer.reject)
  child.on('exit', (exitCode) => answer.reject(new Error(`the browser ended by itself: ${String(exitCode)}`)))
  const timer = setTimeout(() => answer.reject(new Error('the browser gave no answer within a minute')), 60_000)
  try {
    return await answer.promise
  } finally {
    clearTimeout(timer)
    if (child.pid !== undefined && child.exitCode === null) {
      process.kill(-child.pid, 'SIGKILL')
      await once(child, 'exit')
    }
    server.closeAllConnections()
    server.close()
  }
}
