/** @module-tag all */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { openOrigins, type Origins } from './support/origins.ts'

const node = '/opt/node/node'
/** Node's own `fetch`, and what comes of it where the host is refused. */
const fetching = (url: string) =>
  `NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1 ${node} -e "fetch('${url}').then((r) => r.text()).then((t) => process.stdout.write(t))"`
const messaging = (url: string) =>
  `NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1 ${node} -e "const s = new WebSocket('${url}'); s.onopen = () => s.send('a message'); s.onmessage = (m) => { console.log(m.data); process.exit() }; s.onerror = () => process.exit(1)"`
const python = (url: string) =>
  `python3 -c 'import ssl, urllib.request as u; print(u.urlopen("${url}", context=ssl._create_unverified_context()).read().decode(), end="")'`

/** Each program with the host that it needs, in a directory of its own, and its words when it has come through. */
const programs: readonly (readonly [title: string, host: string, command: string, printed: string])[] = [
  [
    '`npm install`',
    'registry.test',
    `echo '{}' > package.json; npm install --registry https://registry.test/ --strict-ssl=false --fetch-retries=0 --no-audit --no-fund --loglevel=error greeting >&2 && ${node} -p "require('greeting')"`,
    'installed by npm\n',
  ],
  [
    '`pip install`',
    'index.test',
    `python3 -m pip --isolated --disable-pip-version-check install -q --retries 0 --no-cache-dir --target lib --trusted-host index.test --index-url https://index.test/simple greeting && PYTHONPATH=lib python3 -c 'import greeting; print(greeting.text)'`,
    'installed by pip\n',
  ],
  [
    '`git clone`',
    'git.test',
    'git -c http.sslVerify=false clone -q https://git.test/project.git && cat project/text',
    'cloned by git\n',
  ],
  ['curl over http', 'api.test', 'curl -sSf http://api.test/', 'hello by 1.1\n'],
  ['curl over https', 'api.test', 'curl -sSfk --http1.1 https://api.test/', 'hello by 1.1\n'],
  ['curl over HTTP/2', 'api.test', 'curl -sSfk --http2 https://api.test/', 'hello by 2.0\n'],
  ['`fetch` of Node over http', 'api.test', fetching('http://api.test/'), 'hello by 1.1\n'],
  ['`fetch` of Node over https', 'api.test', fetching('https://api.test/'), /hello by (?:1\.1|2\.0)\n/.source],
  ['WebSocket', 'api.test', messaging('ws://api.test/'), 'a message\n'],
  ['WebSocket over TLS', 'api.test', messaging('wss://api.test/'), 'a message\n'],
  ['Python over http', 'api.test', python('http://api.test/'), 'hello by 1.1\n'],
  ['Python over https', 'api.test', python('https://api.test/'), 'hello by 1.1\n'],
  [
    'plain TCP',
    'db.test:5432',
    `python3 -c 'import socket; s = socket.create_connection(("db.test", 5432)); s.sendall(b"sent back"); print(s.recv(99).decode())'`,
    'sent back\n',
  ],
]

/** The pairs of each kind that `npm test` runs: ten sandboxes, and npm, pip, git and Node in some of them. */
const reached = new Set([
  '`npm install`',
  '`pip install`',
  '`git clone`',
  'curl over HTTP/2',
  'WebSocket over TLS',
  'plain TCP',
])
const refused = new Set(['`git clone`', 'curl over http', '`fetch` of Node over https', 'plain TCP'])
const tagsOf = (usual: ReadonlySet<string>, title: string) => (usual.has(title) ? {} : { tags: 'deep' as const })

describeWith(
  [component('bubblewrap'), component('perl'), component('npm'), component('python3-venv'), component('git')],
  'programs and a list of hosts',
  () => {
    let directory: string
    let origins: Origins
    const opened: Workspace[] = []
    const cleanups: (() => Promise<void>)[] = []

    async function open(allow: readonly string[]): Promise<Workspace> {
      const scratch = await createScratchDirectory()
      cleanups.push(() => scratch.remove())
      const network = {
        allow,
        addresses: ['127.0.0.1'],
        resolve: async (_: string, port: number) => [{ address: '127.0.0.1', port: origins.ports[port] ?? 0 }],
      }
      const tools = [{ host: dirname(process.execPath), at: '/opt/node' }]
      const workspace = await createWorkspace({
        mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: scratch.path, owner: scratch.owner }) }],
        executors: [createBubblewrapExecutor({ network, tools })],
      })
      opened.push(workspace)
      return workspace
    }

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'ws-origins-'))
      origins = await openOrigins(directory)
    })
    afterAll(async () => {
      for (const workspace of opened) await workspace.close()
      await origins[Symbol.asyncDispose]()
      for (const cleanup of cleanups) await cleanup()
      await rm(directory, { recursive: true, force: true })
    })

    for (const [title, host, command, printed] of programs) {
      it(`[NW2] ${title} reaches a listed host without a setting`, tagsOf(reached, title), async () => {
        const workspace = await open([host])
        const { stdout, stderr, violations } = await workspace.exec(command, { timeout: 60_000 })
        expect({ stdout, violations }, stderr).toEqual({
          stdout: expect.stringMatching(new RegExp(`^${printed}$`)),
          violations: undefined,
        })
      })

      it(`[NW1, NW6] ${title} is refused at once, and the reason names the host`, tagsOf(refused, title), async () => {
        const workspace = await open(['other.test'])
        const before = origins.seen.length
        const { stdout, exitCode, violations, duration } = await workspace.exec(command, { timeout: 60_000 })
        const [name] = host.split(':')
        expect({ stdout, failed: exitCode !== 0 }).toEqual({ stdout: '', failed: true })
        expect(violations).toMatchObject([
          { kind: 'refused', host: name, remedy: expect.stringContaining(`\`${name}\``) },
        ])
        expect(origins.seen.length).toBe(before)
        // resolvers wait 5 s for an answer that does not come
        expect(duration).toBeLessThan(4500)
      })
    }
  },
)
