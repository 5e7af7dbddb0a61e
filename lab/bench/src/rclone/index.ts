import { join } from 'node:path'

import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createS3Adapter } from '@ws/adapter-s3'
import { type Workspace, createWorkspace } from '@ws/core'
import { type StorageAdapter, parseMountPath } from '@ws/core/adapter'
import { component, createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'

import { type Measurement, compare, own } from '../measure.ts'
import { makeDirectory, usualRules } from '../site.ts'
import { fileComparisons } from './files.ts'
import { bucketTarget, directoryTarget } from './targets.ts'
import { inDirectory, ofAdapter, ofWorkspace } from './ways.ts'

const section = 'rclone'
const root = '/workspace'
/** Milliseconds for which the kernel believes what it knows of a file: the adapter's default. */
const attributeCacheTime = 1_000

/** The mount with and without this project around it, the store's API, and a local disk, in one run on one Ceph. */
export async function measureRclone(report: (measurement: Measurement) => void): Promise<void> {
  for (const needed of ['radosgw', 'rclone', 'fuse'] as const) {
    const { available, reason } = component(needed)
    if (!available) throw new Error(`needs ${needed}: ${reason}`)
  }
  await using server = await startCephServer()
  await using scratch = await createScratchDirectory()
  const { endpoint, region, credentials, bucket } = server
  const owner = ordinaryOwner()
  await using mount = await createRcloneAdapter({
    endpoint,
    region,
    credentials,
    provider: 'Ceph',
    bucket,
    prefix: 'threads/t1',
    owner,
    directory: join(scratch.path, 'state'),
    directoryCacheTime: 600_000,
    attributeCacheTime,
  })
  await using s3 = await createS3Adapter({ endpoint, region, credentials, bucket, prefix: 'threads/t2' })
  const mountRoot = String(mount.hostPath?.(parseMountPath('/')))
  const diskRoot = join(scratch.path, 'disk')
  makeDirectory(diskRoot)

  const places = {
    // a little longer, since time is measured at both ends
    mount: directoryTarget(mountRoot, {
      maxStaleness: attributeCacheTime + 50,
      settle: async () => await mount.flush?.(),
    }),
    disk: directoryTarget(diskRoot, { owner }),
    bucket: bucketTarget(s3),
  }
  await using onMount = await openWorkspace(mount)
  await using onBucket = await openWorkspace(s3)

  const files = await fileComparisons(inDirectory('bare mount', places.mount, mountRoot), [
    ofWorkspace(own, places.mount, onMount, root),
    ofAdapter('adapter alone', places.mount, mount),
    inDirectory('local disk', places.disk, diskRoot),
    ofWorkspace('workspace on S3', places.bucket, onBucket, root),
  ])
  for (const comparison of files) report(withTimes(await compare(section, comparison)))
}

async function openWorkspace(adapter: StorageAdapter): Promise<Workspace & AsyncDisposable> {
  const mounts = [{ at: root, adapter }]
  const workspace = await createWorkspace({ mounts, rules: usualRules(root) })
  workspace.on('access', () => undefined)
  return workspace
}

/** Ratios to a mount say little of how long one waits. */
function withTimes(measurement: Measurement): Measurement {
  const times = measurement.figures.map(({ way, microseconds }) => `${way} ${showTime(microseconds)}`)
  return { ...measurement, note: times.join(', ') }
}

function showTime(microseconds = Number.NaN): string {
  if (!Number.isFinite(microseconds)) return '–'
  if (microseconds < 1_000) return `${microseconds.toFixed(0)} µs`
  return microseconds < 1_000_000
    ? `${(microseconds / 1_000).toPrecision(3)} ms`
    : `${(microseconds / 1e6).toFixed(2)} s`
}
