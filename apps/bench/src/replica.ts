import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createReplicaAdapter } from '@ws/adapter-replica'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, type Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { startCephServer, type S3Server } from '@ws/test-fixtures/s3'

import { compare, type Measurement, own, summary } from './measure.ts'

const section = 'replica'
const root = '/workspace'
/** Files that go to a bucket, and come from it. */
const files = 5_000
const run = promisify(execFile)

/**
 * Copies of a store, beside a local disk, rclone's copies and its mount. The bucket is one of Ceph: R2's simulator refuses what
 * rclone reads with.
 */
export async function measureReplica(report: (measurement: Measurement) => void): Promise<void> {
  for (const needed of ['bubblewrap', 'git', 'radosgw', 'rclone', 'fuse'] as const) {
    const { available, reason } = component(needed)
    if (!available) throw new Error(`needs ${needed}: ${reason}`)
  }
  report(await commandThatChangesNothing())
  report(await flushOfNothing())
  await using server = await startCephServer()
  for (const measurement of await copies(server)) report(measurement)
  for (const measurement of await programs(server)) report(measurement)
}

function treeOf(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `/d${index % 100}/f${index}.txt`,
      `file ${index} of a tree\n`.repeat(10 + (index % 90)),
    ]),
  )
}

/** Times of single calls, in milliseconds. */
async function timesOf(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let turn = 0; turn < count; turn += 1) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times
}

async function commandThatChangesNothing(): Promise<Measurement> {
  await using scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  const store = createMemoryAdapter({ files: treeOf(1_000) })
  await using copied = await open(await createReplicaAdapter({ store }))
  await using onDisk = await open(await createLocalAdapter({ root: scratch.path, owner: ordinaryOwner() }))
  const times: number[] = []
  for (let turn = 0; turn < 30; turn += 1) {
    const [copy = 0] = await timesOf(1, () => copied.exec('true'))
    const [disk = 0] = await timesOf(1, () => onDisk.exec('true'))
    times.push(copy - disk)
  }
  return {
    section,
    name: '`true` over memory with 1,000 files: more than on a disk',
    against: 'ms',
    target: 15,
    figures: [summary(own, times)],
  }
}

async function flushOfNothing(): Promise<Measurement> {
  const store = createMemoryAdapter({ files: treeOf(10_000) })
  await using replica = await createReplicaAdapter({ store, persist: 'flush' })
  await replica.refresh?.()
  for (let turn = 0; turn < 3; turn += 1) await replica.flush()
  const times = await timesOf(20, () => replica.flush())
  return { section, name: 'flush of nothing, 10,000 files', against: 'ms', target: 40, figures: [summary(own, times)] }
}

/** A bucket as rclone's command line knows it. */
function remoteOf(
  { endpoint, region, credentials, bucket }: S3Server,
  prefix: string,
): [string, Record<string, string>] {
  const env = {
    PATH: process.env['PATH'] ?? '',
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_S_TYPE: 's3',
    RCLONE_CONFIG_S_PROVIDER: 'Ceph',
    RCLONE_CONFIG_S_ENDPOINT: endpoint,
    RCLONE_CONFIG_S_REGION: region,
    RCLONE_CONFIG_S_ACCESS_KEY_ID: credentials.accessKeyId,
    RCLONE_CONFIG_S_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    RCLONE_CONFIG_S_NO_CHECK_BUCKET: 'true',
  }
  return [`s:${bucket}/${prefix}`, env]
}

const bucketOf = ({ endpoint, region, credentials, bucket }: S3Server, prefix: string): Promise<StorageAdapter> =>
  createS3Adapter({ endpoint, region, credentials, bucket, prefix, symlinks: 'rclonelink' })

/** Small files to a bucket, and from it, beside `rclone copy`. */
async function copies(server: S3Server): Promise<Measurement[]> {
  await using scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  const tree = treeOf(files)
  const source = join(scratch.path, 'source')
  const fill = (directory: string): void => {
    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(join(directory, path, '..'), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
  }
  fill(source)
  let turn = 0
  let replica: Awaited<ReturnType<typeof createReplicaAdapter>> | undefined
  const next = (): string => `turn${(turn += 1)}`
  const copy = async (from: string, to: string, env: Record<string, string>): Promise<unknown> =>
    run('rclone', ['copy', '-q', '--transfers', '32', from, to], { env, maxBuffer: 1e8 })
  const rounds = { count: 1, maxRounds: 3, budget: 120_000, target: 1.25 }
  const pushed = await compare(section, {
    ...rounds,
    name: `${files} small files to a bucket`,
    reference: {
      name: 'rclone copy',
      run: async () => {
        const [remote, env] = remoteOf(server, next())
        await copy(source, remote, env)
      },
    },
    ways: [
      {
        name: own,
        before: async () => {
          await replica?.close()
          const directory = join(scratch.path, next())
          replica = await createReplicaAdapter({ store: () => bucketOf(server, next()), directory, persist: 'flush' })
          fill(join(directory, 'files'))
        },
        run: async () => replica?.flush(),
      },
    ],
  })
  await replica?.close()
  const [full, env] = remoteOf(server, 'full')
  await copy(source, full, env)
  const pulled = await compare(section, {
    ...rounds,
    name: `${files} small files from a bucket`,
    reference: {
      name: 'rclone copy',
      run: async () => copy(full, join(scratch.path, next()), env),
    },
    ways: [
      {
        name: own,
        run: async () => {
          await using made = await createReplicaAdapter({
            store: () => bucketOf(server, 'full'),
            directory: join(scratch.path, next()),
            persist: 'flush',
          })
          await made.refresh?.()
        },
      },
    ],
  })
  return [pushed, pulled]
}

/** Whole programs: a local disk is 1. */
async function programs(server: S3Server): Promise<Measurement[]> {
  await using scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  const owner = ordinaryOwner()
  const disk = join(scratch.path, 'disk')
  mkdirSync(disk)
  if (owner !== undefined) await run('chown', [`${owner.uid}:${owner.gid}`, disk])
  await using onDisk = await open(await createLocalAdapter({ root: disk, owner }))
  const copyOf = (persist: 'command' | 'flush') =>
    createReplicaAdapter({ store: () => bucketOf(server, `programs-${persist}`), persist })
  await using flushed = await open(await copyOf('flush'))
  await using pushed = await open(await copyOf('command'))
  const { endpoint, region, credentials, bucket } = server
  await using mount = await open(
    await createRcloneAdapter({
      ...{ endpoint, region, credentials, bucket, owner },
      provider: 'Ceph',
      prefix: 'mounted',
      directory: join(scratch.path, 'state'),
      directoryCacheTime: 600_000,
    }),
  )
  const all = [onDisk, flushed, pushed, mount]
  for (const workspace of all) await prepare(workspace)
  const measured: Measurement[] = []
  let turn = 0
  for (const [name, command] of Object.entries(commands)) {
    const way = (label: string, workspace: Workspace) => ({
      name: label,
      run: async () => {
        const { exitCode, stderr } = await workspace.exec(command(`made${(turn += 1)}`), {
          shell: '/bin/sh',
          login: false,
        })
        if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
      },
    })
    measured.push(
      await compare(section, {
        name,
        count: 1,
        maxRounds: 5,
        budget: 60_000,
        target: 1.05,
        reference: way('local disk', onDisk),
        ways: [way(own, flushed), way('saved with each command', pushed), way('rclone mount', mount)],
      }),
    )
  }
  return measured
}

const commands: Readonly<Record<string, (name: string) => string>> = {
  'git clone, 200 files': (name) => `git clone -q repository ${name}`,
  'tar, 5 times 200 files': (name) =>
    `for i in 1 2 3 4 5; do mkdir -p ${name}/$i && tar xf tree.tar -C ${name}/$i; done`,
  'npm install, 10 packages': (name) =>
    `mkdir ${name} && cp package.json ${name} && cd ${name} && npm install --offline --cache ../cache --no-audit --no-fund --no-update-notifier > /dev/null`,
  'python3, 200 files read': () =>
    `python3 -c 'import pathlib; [p.read_bytes() for p in pathlib.Path("tree").rglob("*.txt")]'`,
}

async function prepare(workspace: Workspace): Promise<void> {
  const script = `
mkdir tree packages && i=0
while [ $i -lt 200 ]; do mkdir -p tree/d$((i % 20)); seq 1 $((i + 20)) > tree/d$((i % 20))/f$i.txt; i=$((i + 1)); done
tar cf tree.tar tree
git init -q repository && cp -r tree repository/ && cd repository && git add -A && git -c user.name=a -c user.email=a@b commit -qm one && cd ..
list=
for n in 0 1 2 3 4 5 6 7 8 9; do
  mkdir -p package/lib && printf '{"name":"dep%s","version":"1.0.0"}' $n > package/package.json
  for m in 1 2 3 4 5 6 7 8 9; do echo "exports.value = $m" > package/lib/m$m.js; done
  tar czf packages/dep$n.tgz package && rm -r package
  list="$list\\"dep$n\\":\\"file:../packages/dep$n.tgz\\","
done
printf '{"name":"app","version":"1.0.0","dependencies":{%s}}' "\${list%,}" > package.json
`
  const { exitCode, stderr } = await workspace.exec(script, { shell: '/bin/sh', login: false })
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
}

async function open(adapter: StorageAdapter): Promise<Workspace & AsyncDisposable> {
  return await createWorkspace({
    mounts: [{ at: root, adapter: () => adapter }],
    executors: [createBubblewrapExecutor()],
  })
}
