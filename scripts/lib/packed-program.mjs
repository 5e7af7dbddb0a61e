// Runs in a project with packed packages: each thread and each perl script of theirs does its work, or the program fails.
import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createReplicaAdapter } from '@ws/adapter-replica'
import { createWorkspace, rules } from '@ws/core'
import { openDocuments } from '@ws/documents'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createCheckpoints } from '@ws/snapshots'

const root = mkdtempSync(join(tmpdir(), 'ws-packed-'))
const inRoot = (name) => {
  mkdirSync(join(root, name), { mode: 0o700 })
  return join(root, name)
}
let threads = 0
const faults = []
process.on('worker', (thread) => {
  threads += 1
  thread.on('error', (error) => faults.push(error))
})

try {
  await interpret()
  await search()
  await read()
  await replicate()
  await checkpoint()
  if (process.argv.includes('bubblewrap')) await confine()
  assert.deepEqual(faults, [])
  console.log(`${threads} threads`)
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function interpret() {
  const files = { '/a.bin': Uint8Array.of(255, 254, 65) }
  await using workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createMemoryAdapter({ files }) }],
    executors: [createVirtualExecutor()],
  })
  const { stdout } = await workspace.exec(`od -An -tx1 a.bin; echo '{"a":1}' | jq .a`)
  assert.equal(stdout, ' ff fe 41\n1\n')
}

async function search() {
  const files = { '/long.txt': `${'a b '.repeat(50_000)} zq` }
  await using workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createMemoryAdapter({ files }) }],
  })
  const before = threads
  const hits = await Array.fromAsync(workspace.search('\\bz[o-r]$', { regex: true }))
  assert.deepEqual([hits.length, threads - before], [1, 1])
}

async function read() {
  await using documents = openDocuments()
  const { signatures } = await documents.signatures('def f(): pass', { language: 'python' })
  assert.equal(signatures.length, 1)
  const markdown = await documents.markdown('<b>x</b>', { url: 'https://example.org/' })
  assert.equal(markdown.trim(), '**x**')
  await assert.rejects(documents.pdfPages(Buffer.from('no document')))
}

async function replicate() {
  const store = createMemoryAdapter
  await using workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createReplicaAdapter({ store }) }],
  })
  await workspace.write('a.txt', 'x')
  assert.equal(await workspace.readText('a.txt'), 'x')
}

async function checkpoint() {
  const project = inRoot('project')
  for (const name of ['1.txt', '2.txt']) writeFileSync(join(project, name), '')
  await using workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: project }) }],
    checkpoints: createCheckpoints({ stateDirectory: inRoot('state') }),
  })
  const { id } = await workspace.checkpoint()
  await workspace.write('1.txt', 'changed')
  const changes = await workspace.changes({ since: id })
  assert.deepEqual(
    changes.map(({ path }) => path),
    ['/workspace/1.txt'],
  )
  await workspace.restore(id)
  assert.equal(await workspace.readText('1.txt'), '')
  // the thread of the checkpoints starts this one, and goes on without it
  await import(new URL('ahead/thread.js', import.meta.resolve('@ws/tree/disk')))
}

async function confine() {
  const mount = inRoot('mount')
  chmodSync(root, 0o755)
  if (process.getuid() === 0) chownSync(mount, 20_001, 20_001)
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: mount }) }],
    rules: [rules.deny('keys'), rules.denyGlob('*.pem')],
    executors: [createBubblewrapExecutor()],
  })
  for (const file of ['a.txt', 'b.txt', 'c.txt']) {
    const { exitCode, stderr } = await workspace.exec(`echo x > ${file}; mkdir keys && exit 3; test -f ${file}`)
    assert.deepEqual([exitCode, existsSync(join(mount, file))], [0, true], stderr)
  }
}
