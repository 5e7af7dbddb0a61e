import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'

import { createLocalAdapter } from '@ws/adapter-local'
import { type AccessEvent, createWorkspace, type Workspace, type WorkspaceOptions } from '@ws/core'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { onTestFinished } from 'vitest'

export interface Opened {
  readonly workspace: Workspace
  readonly events: AccessEvent[]
  readonly scratch: ScratchDirectory
}

export async function open(
  executor: BubblewrapExecutorOptions = {},
  { at = '/workspace', ...more }: Partial<Pick<WorkspaceOptions, 'rules'>> & { readonly at?: string } = {},
): Promise<Opened> {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const { path: root, owner } = scratch
  const workspace = await createWorkspace({
    mounts: [{ at, adapter: () => createLocalAdapter({ root, owner }) }],
    executors: [createBubblewrapExecutor(executor)],
    ...more,
  })
  onTestFinished(() => workspace.close())
  const events: AccessEvent[] = []
  workspace.on('access', (event) => events.push(event))
  return { workspace, events, scratch }
}

/** A server that says its own address to each request, and repeats the body. */
const program = (host: string, port: number): string =>
  [
    'import http.server as h, socket, sys',
    'class H(h.BaseHTTPRequestHandler):',
    '  protocol_version = "HTTP/1.1"',
    '  def do_GET(self):',
    '    body = f"hello {self.path}".encode()',
    '    self.send_response(200); self.send_header("content-length", str(len(body))); self.end_headers(); self.wfile.write(body)',
    '  def log_message(self, *a): pass',
    `class S(h.ThreadingHTTPServer): address_family = socket.AF_INET6 if ":" in "${host}" else socket.AF_INET`,
    `s = S(("${host}", ${port}), H)`,
    'print("ready", flush=True)',
    's.serve_forever()',
  ].join('\n')

/** Starts a server of Python, and waits until it listens. */
export async function serve(workspace: Workspace, port: number, host = '127.0.0.1') {
  await workspace.write('server.py', program(host, port))
  return start(workspace, 'python3 server.py')
}

/** Starts a server, and waits for its first output. */
export async function start(workspace: Workspace, command: string): Promise<{ end(): Promise<void> }> {
  const ready = Promise.withResolvers<void>()
  const running = await workspace.start(command, { onOutput: () => ready.resolve() })
  await ready.promise
  return {
    async end() {
      running.kill('SIGKILL')
      await running.wait()
    },
  }
}

export function ask(where: string | { readonly socketPath: string }, path = '/'): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = typeof where === 'string' ? { port: new URL(where).port } : where
    get({ host: '127.0.0.1', agent: false, path, ...options }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += String(chunk)))
      response.on('end', () => resolve(body))
      response.on('error', reject)
    }).on('error', (error: NodeJS.ErrnoException) => resolve(`failed ${error.code}`))
  })
}

/** The helpers of a process whose script has these words. */
export function helpersOf(parent: number, words: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const stat = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/stat`, 'latin1') : ''
      const isChild = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      return isChild && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(words) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}
