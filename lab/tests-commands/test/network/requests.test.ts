/** @module-tag all */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { type AccessEvent, createWorkspace, type Workspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { type Authority, createAuthority } from '@ws/network/gate'
import {
  type Component,
  component,
  type ComponentName,
  createScratchDirectory,
  describeWith,
  itWith,
} from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it, onTestFinished, type TestOptions } from 'vitest'

import { openOrigins, type Origins } from './support/origins.ts'

const node = '/opt/node/node'
const secret = 'hunter2-and-more'
const judged = ['api.test', 'git.test', 'registry.test', 'index.test', 'crates.test', 'modules.test']
const names = [...judged, 'other.test']

type Program = readonly [title: string, command: string, printed: string]

/** Programs as people call them: none has a setting for certificates. */
const programs: readonly Program[] = [
  ['curl', 'curl -sSf https://api.test/', 'hello by 1.1\n'],
  [
    'Node',
    `${node} -e "fetch('https://api.test/').then((r) => r.text()).then((t) => process.stdout.write(t))"`,
    'hello by 1.1\n',
  ],
  [
    'Python',
    `python3 -c 'import urllib.request as u; print(u.urlopen("https://api.test/").read().decode(), end="")'`,
    'hello by 1.1\n',
  ],
  ['git', 'git clone -q https://git.test/project.git && cat project/text', 'cloned by git\n'],
  [
    'npm',
    `mkdir n && cd n && echo '{}' > package.json; npm install --registry https://registry.test/ --fetch-retries=0 --no-audit --no-fund --loglevel=error greeting >&2 && ${node} -p "require('greeting')"`,
    'installed by npm\n',
  ],
  [
    'pip',
    `python3 -m pip --isolated --disable-pip-version-check install -q --retries 0 --no-cache-dir --target site --index-url https://index.test/simple greeting && PYTHONPATH=site python3 -c 'import greeting; print(greeting.text)'`,
    'installed by pip\n',
  ],
]

/** Those of other languages: each resolves names, speaks TLS and keeps its authorities in a way of its own. */
const languages: readonly (readonly [ComponentName, ...Program])[] = [
  [
    'java',
    'Java',
    `printf %s 'class Fetch { public static void main(String[] a) throws Exception { System.out.write(new java.net.URL("https://api.test/").openStream().readAllBytes()); System.out.flush(); } }' > Fetch.java && java Fetch.java`,
    'hello by 1.1\n',
  ],
  [
    'go',
    'Go',
    `GOPROXY=https://modules.test GOSUMDB=off GO111MODULE=on go list -m -f '{{.Path}} {{.Version}}' example.test/greeting@latest`,
    'example.test/greeting v1.0.0\n',
  ],
  [
    'cargo',
    'cargo',
    [
      `mkdir -p c/src c/.cargo && cd c && touch src/lib.rs`,
      `printf '[package]\\nname = "c"\\nversion = "0.1.0"\\n[dependencies]\\ngreeting = { version = "1", registry = "own" }\\n' > Cargo.toml`,
      `printf '[registries.own]\\nindex = "sparse+https://crates.test/"\\n' > .cargo/config.toml`,
      // before 1.68 such an index had to be asked for
      `RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry fetch -q >&2 && cat ~/.cargo/registry/src/*/greeting-1.0.0/src/lib.rs`,
    ].join('\n'),
    '// fetched by cargo\n',
  ],
]

describeWith(
  [component('bubblewrap'), component('perl'), component('npm'), component('python3-venv'), component('git')],
  'programs and a credential that they never see',
  () => {
    let directory: string
    let authority: Authority
    let origins: Origins

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'ws-origins-'))
      authority = await createAuthority(names.map((name) => ({ name })))
      origins = await openOrigins(directory, (name) => authority.contextFor(name))
    })
    afterAll(async () => {
      await origins[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    })

    async function open(at: '/' | '/workspace'): Promise<{ workspace: Workspace; events: AccessEvent[] }> {
      const scratch = await createScratchDirectory()
      onTestFinished(() => scratch.remove())
      const rule = {
        match: { method: 'GET' },
        transform: { headers: { authorization: async () => `Bearer ${secret}` } },
      }
      const network = {
        allow: names,
        addresses: ['127.0.0.1'],
        resolve: async (_: string, port: number) => [{ address: '127.0.0.1', port: origins.ports[port] ?? 0 }],
        requests: Object.fromEntries(judged.map((name) => [name, [rule]])),
        authorities: [authority.certificate],
      }
      const workspace = await createWorkspace({
        mounts: [{ at, adapter: () => createLocalAdapter({ root: scratch.path, owner: scratch.owner }) }],
        executors: [
          createBubblewrapExecutor({ network, tools: [{ host: dirname(process.execPath), at: '/opt/node' }] }),
        ],
      })
      onTestFinished(() => workspace.close())
      const events: AccessEvent[] = []
      workspace.on('access', (event) => events.push(event))
      return { workspace, events }
    }

    for (const at of ['/workspace', '/'] as const) {
      const reaches = (needed: readonly Component[], [title, command, printed]: Program, options: TestOptions): void =>
        itWith(
          needed,
          `[NW5, NW2] ${title} at ${at} reaches its host with it, without a setting`,
          async () => {
            const { workspace, events } = await open(at)
            const before = origins.credentials.length
            const { stdout, stderr, exitCode } = await workspace.exec(command)
            expect(exitCode, stderr).toBe(0)
            expect(stdout).toBe(printed)
            expect(new Set(origins.credentials.slice(before))).toEqual(new Set([`Bearer ${secret}`]))
            expect(stdout + stderr + JSON.stringify(events)).not.toContain(secret)
          },
          options,
        )
      for (const program of programs) reaches([], program, at === '/' || program[0] === 'npm' ? { tags: 'deep' } : {})
      for (const [needed, ...program] of languages) reaches([component(needed)], program, { tags: 'deep' })

      it(`[NW5] nothing in a sandbox at ${at} holds it, while a request with it is made`, async () => {
        const { workspace, events } = await open(at)
        const search = [
          'ulimit -c unlimited',
          'curl -sSf https://api.test/ -o answer & curl -sv https://api.test/ 2>&1; wait',
          `python3 -c 'import os, urllib.request as u; u.urlopen("https://api.test/").read(); os.abort()'`,
          'env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline',
          'grep -rsla "[h]unter2" /etc . /tmp /dev/shm',
          'echo end',
        ].join('\n')
        const { stdout, stderr } = await workspace.exec(search)
        expect(stdout).toContain('hello by 1.1')
        expect(stdout).toMatch(/end\n$/)
        expect(stdout + stderr + JSON.stringify(events)).not.toContain(secret)
      })
    }

    it('[NW7] other requests are refused in words that a model reads, and other hosts keep their own certificate', async () => {
      const { workspace } = await open('/workspace')
      const before = origins.seen.length
      const { stdout, violations } = await workspace.exec(
        'curl -s -X DELETE https://api.test/all; curl -s http://api.test/',
      )
      expect(stdout).toBe(
        'ws: `api.test` was not asked: no rule for it allows `DELETE /all`; do without this request, or ask the operator for a rule in `network.requests`\n' +
          'ws: `api.test` was not asked: the rule for this request adds to it, which needs TLS; ask by `https`\n',
      )
      expect(violations).toMatchObject([
        { host: 'api.test', port: 443, remedy: expect.stringContaining('`network.requests`') },
        { host: 'api.test', port: 80, remedy: 'ask by `https`' },
      ])
      expect(origins.seen.length).toBe(before)
      const other = await workspace.exec('curl -sS https://other.test/; curl -sSk https://other.test/')
      expect(other.stderr).toMatch(/certificate/)
      expect(other.stdout).toBe('not found\n')
    })
  },
)
