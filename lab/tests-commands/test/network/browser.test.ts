import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { start } from './support/servers.ts'

const page = (server: string) =>
  `<title>before</title><script>document.title = "${server} " + location.pathname</script>`
const servers = {
  node: {
    file: 'server.cjs',
    command: 'node server.cjs',
    text: `require('http').createServer((q, r) => r.end(${JSON.stringify(page('node'))})).listen(5173, 'localhost', () => console.log('ready'))`,
  },
  python: {
    file: 'server.py',
    command: 'python3 server.py',
    text: [
      'import http.server as h',
      'class H(h.BaseHTTPRequestHandler):',
      '  def do_GET(self):',
      '    self.send_response(200); self.send_header("content-type", "text/html"); self.end_headers()',
      `    self.wfile.write(${JSON.stringify(page('python'))}.encode())`,
      // a browser holds connections open
      's = h.ThreadingHTTPServer(("127.0.0.1", 5173), H); print("ready", flush=True); s.serve_forever()',
    ].join('\n'),
  },
} as const

type Start = typeof start

async function startOnTerminal(workspace: Workspace, command: string): ReturnType<Start> {
  const ready = Promise.withResolvers<void>()
  const session = await workspace.openSession({ command })
  session.onData(() => ready.resolve())
  await ready.promise
  return {
    async end() {
      session.kill('SIGKILL')
      await session.wait()
    },
  }
}

interface Form {
  readonly at?: string
  readonly executor?: BubblewrapExecutorOptions
  readonly start?: Start
  readonly workspaces?: number
}

const forms: Readonly<Record<string, Form>> = {
  'a mount at /': { at: '/' },
  'warm commands': {},
  'cold commands': { executor: { warm: false } },
  'a terminal': { start: startOnTerminal },
  'a list of hosts': { executor: { network: { allow: ['a.test'] } } },
  'two workspaces on one directory': { workspaces: 2 },
}

/** The title that a browser shows after it ran the script of a page. */
async function titleOf(url: string): Promise<string | undefined> {
  const profile = await mkdtemp(join(tmpdir(), 'ws-browser-'))
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync']
  flags.push(
    '--disable-background-networking',
    '--disable-component-update',
    `--user-data-dir=${profile}`,
    '--dump-dom',
  )
  try {
    const { stdout } = await promisify(execFile)('chromium', [...flags, url])
    return /<title>(.*)<\/title>/u.exec(stdout)?.[1]
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}

describeWith(
  ['bubblewrap', 'perl', 'node', 'python3', 'chromium'].map((name) => component(name as 'node')),
  'a published port in a browser',
  { tags: 'all' },
  () => {
    describe.each(Object.entries(forms))('with %s', (_, form) => {
      const { at = '/workspace', executor = {}, workspaces: count = 1 } = form
      it.each(Object.entries(servers))(
        '[SV1] shows the page of a server of %s',
        async (name, { file, command, text }) => {
          const scratch = await createScratchDirectory()
          onTestFinished(() => scratch.remove()) // last: a server whose directory is removed is ended with an error
          const { path: root, owner } = scratch
          const open = async (): Promise<Workspace> => {
            const workspace = await createWorkspace({
              mounts: [{ at, adapter: () => createLocalAdapter({ root, owner }) }],
              executors: [createBubblewrapExecutor(executor)],
            })
            onTestFinished(() => workspace.close())
            return workspace
          }
          for (const [number, workspace] of (await Promise.all(Array.from({ length: count }, open))).entries()) {
            await workspace.write(file, text)
            await workspace.exec('true')
            const server = await (form.start ?? start)(workspace, command)
            onTestFinished(() => server.end())
            expect((await workspace.exec('curl -s localhost:5173')).stdout).toContain(page(name))
            const { url = '' } = await workspace.publish(5173)
            expect(await titleOf(`${url}/${number}`)).toBe(`${name} /${number}`)
          }
        },
      )
    })
  },
)
