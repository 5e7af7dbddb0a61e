/** @module-tag all */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, type Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, type ComponentName, describeWith } from '@ws/test-fixtures'
import type { S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

import { filesOf, machineOf, ownDirectory, siteOf } from './support/site.ts'

const executors: readonly [string, '/' | '/workspace', ComponentName | undefined, () => Executor][] = [
  ['bubblewrap', '/', 'bubblewrap', () => createBubblewrapExecutor()],
  ['bubblewrap, its names kept,', '/', 'bubblewrap', () => createBubblewrapExecutor({ warm: { keepNames: true } })],
  ['proot', '/workspace', 'proot', () => createProotExecutor()],
  ['virtual', '/workspace', undefined, () => createVirtualExecutor()],
]

// each runs two commands
for (const [name, root, needed, create] of executors) {
  describeWith(needed === undefined ? [] : component(needed), `${name} at ${root}`, () => {
    it('[RE1] begins with the changes of the store, and its own are there at its end', async () => {
      const store = createMemoryAdapter({ files: { '/in.txt': 'in\n' } })
      const { replica } = await machineOf(store)
      const workspace = await createWorkspace({ mounts: [{ at: root, adapter: replica }], executors: [create()] })
      onTestFinished(() => workspace.close())
      const { stdout } = await workspace.exec('cat in.txt; mkdir d; echo out > d/out.txt; mv in.txt d')
      expect(stdout).toBe('in\n')
      expect((await workspace.exec('ls')).stdout).toBe('d\n')
      expect(await filesOf(store)).toEqual({ '/d': 'directory', '/d/in.txt': 'in\n', '/d/out.txt': 'out\n' })
    })
  })
}

describeWith(component('bubblewrap'), 'sessions and commands at once', () => {
  it('[RE2] a session is pushed while it is open, and commands beside it end with their own files in the store', async () => {
    const store = createMemoryAdapter()
    const { workspace } = await siteOf(store)
    const session = await workspace.openSession({ command: 'cat > typed.txt', login: false })
    await session.write('by a person\n')
    await expect.poll(async () => (await filesOf(store))['/typed.txt'], { timeout: 10_000 }).toBe('by a person\n')
    const made = ['a', 'b', 'c'].map((file) =>
      workspace.exec(`echo ${file} > ${file}.txt; mkdir -p d; touch d/${file}`),
    )
    expect((await Promise.all(made)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
    expect(Object.keys(await filesOf(store)).sort()).toEqual([
      '/a.txt',
      '/b.txt',
      '/c.txt',
      '/d',
      '/d/a',
      '/d/b',
      '/d/c',
      '/typed.txt',
    ])
    await session[Symbol.asyncDispose]()
  })
})

const git = 'git -c user.name=a -c user.email=a@b'
const project = `
set -e
mkdir tree && for i in $(seq 1000); do mkdir -p tree/d$((i % 50)); echo "file $i" > tree/d$((i % 50))/f$i.txt; done
git init -q . && git add -A && ${git} commit -qm one
mkdir packages && for n in 1 2 3; do
  mkdir -p package/lib && echo '{"name":"dep'$n'","version":"1.0.0","main":"lib/m.js"}' > package/package.json
  echo "module.exports = $n" > package/lib/m.js && tar czf packages/dep$n.tgz package && rm -r package
done
mkdir app && cd app
echo '{"name":"app","version":"1.0.0","dependencies":{"dep1":"file:../packages/dep1.tgz","dep2":"file:../packages/dep2.tgz"}}' > package.json
npm install --offline --cache /tmp/cache --no-audit --no-fund --no-update-notifier > /dev/null
python3 -c "import json; json.dump(sum(range(10)), open('sum.json', 'w'))"
`
const look = `git status --short tree; git fsck 2>&1; cd app; node -p "require('dep1') + require('dep2')"; cat sum.json; npm ls --offline 2>&1 | grep -c dep`

async function open(adapter: StorageAdapter): Promise<Workspace> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter }],
    executors: [createBubblewrapExecutor()],
  })
  onTestFinished(() => workspace.close())
  return workspace
}

/** Real projects on one machine, and on another one after it. */
async function projectOn(first: StorageAdapter, second: StorageAdapter): Promise<void> {
  const one = await machineOf(first)
  const made = await (await open(one.replica)).exec(project, { timeout: 120_000 })
  expect([made.stderr, made.exitCode]).toEqual(['', 0])
  expect(one.replica.status().dirty).toEqual([])
  const two = await machineOf(second)
  const seen = await (await open(two.replica)).exec(look)
  expect(seen.stdout).toBe('3\n452\n')
  await one.replica.refresh?.() // git has refreshed its index on the other machine
  expect(await two.replica.verify()).toEqual(await one.replica.verify())
}

const programs = ['bubblewrap', 'git', 'npm', 'python3'] as const
const needs = programs.map((name) => component(name))

const name = 'ceph'
// some 1,500 files: 10 s of processor time; what stores do differently is the contract's part
describeWith(
  [...s3Needs(name), ...needs],
  `git, npm and python over ${name}`,
  { tags: 'deep', timeout: 180_000 },
  () => {
    const storeOf = (server: S3Server): Promise<StorageAdapter> => {
      const { bucket, endpoint, region, credentials } = server
      return createS3Adapter({ bucket, prefix: 'project', endpoint, region, credentials, symlinks: 'rclonelink' })
    }

    it('[RE1] [RE6] work, and another machine and other programs find every file', async () => {
      const server = await sharedS3Server(name)
      onTestFinished(() => server.close())
      const [first, second] = [await storeOf(server), await storeOf(server)]
      await projectOn(first, second)
      await expectSameByRclone(server, first)
    })
  },
)

/** The bucket as rclone copies it. */
async function expectSameByRclone(
  { endpoint, region, credentials, bucket }: S3Server,
  store: StorageAdapter,
): Promise<void> {
  const { available } = component('rclone')
  if (!available) return
  const directory = await ownDirectory()
  const env = {
    PATH: process.env['PATH'],
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_S_TYPE: 's3',
    RCLONE_CONFIG_S_PROVIDER: 'Ceph',
    RCLONE_CONFIG_S_ENDPOINT: endpoint,
    RCLONE_CONFIG_S_REGION: region,
    RCLONE_CONFIG_S_ACCESS_KEY_ID: credentials.accessKeyId,
    RCLONE_CONFIG_S_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
  const run = promisify(execFile)
  await run('rclone', ['copy', '-q', '--links', '--transfers', '32', `s:${bucket}/project`, directory], { env })
  const { createLocalAdapter } = await import('@ws/adapter-local')
  await using copied = await createLocalAdapter({ root: directory })
  const real = ([, text]: [string, string]): boolean => text !== 'directory'
  const entries = async (side: StorageAdapter) => Object.fromEntries(Object.entries(await filesOf(side)).filter(real))
  expect(await entries(copied)).toEqual(await entries(store))
}
