// Publishes a server as a Unix socket in a worker thread, and prints its answer. The argument: the path of the socket.
import { get } from 'node:http'
import { isMainThread, Worker } from 'node:worker_threads'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createScratchDirectory } from '@ws/test-fixtures'

const server = `
import http.server as h
class H(h.BaseHTTPRequestHandler):
  def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b"hello " + self.path.encode())
s = h.HTTPServer(("127.0.0.1", 3000), H); print("ready", flush=True); s.serve_forever()`

if (isMainThread) new Worker(import.meta.filename, { argv: process.argv.slice(2) })
else console.log(await answerAt(process.argv[2] ?? ''))

async function answerAt(socketPath: string): Promise<string> {
  const scratch = await createScratchDirectory()
  const { path: root, owner } = scratch
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root, owner }) }],
    executors: [createBubblewrapExecutor()],
  })
  try {
    await workspace.write('/workspace/server.py', server)
    const ready = Promise.withResolvers<void>()
    const running = await workspace.start('python3 server.py', { onOutput: () => ready.resolve() })
    await ready.promise
    await workspace.publish(3000, { socketPath })
    const answer = await new Promise<string>((resolve, reject) => {
      get({ socketPath, path: '/thread', agent: false }, (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => (body += String(chunk))).on('end', () => resolve(body))
      }).on('error', reject)
    })
    running.kill('SIGKILL')
    await running.wait()
    return answer
  } finally {
    await workspace.close()
    await scratch.remove()
  }
}
