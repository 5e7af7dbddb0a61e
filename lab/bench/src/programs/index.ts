import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { type StorageAdapter, parseMountPath } from '@ws/core/adapter'
import { component, createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'

import type { Measurement } from '../measure.ts'
import { makeDirectory } from '../site.ts'
import { type Sizes, prepare } from './prepare.ts'
import { programsFor } from './programs.ts'
import { type Conditions, measureProgram } from './rounds.ts'
import { openRunner, plainRunner, subjects } from './runners.ts'

type Report = (measurement: Measurement) => void

/** Programs that people use, in every executor, against the same command without a workspace; on a local disk. */
export async function measurePrograms(report: Report): Promise<void> {
  await using scratch = await createScratchDirectory()
  const directory = join(scratch.path, 'files')
  makeDirectory(directory)
  await using adapter = await createLocalAdapter({ root: directory, owner: ordinaryOwner() })
  const sizes = { files: 1_000, modules: 300, packages: 10, repeats: 4 }
  await measureIn({ directory, adapter, sizes, report, place: 'local disk', maxStaleness: 0 })
}

/** The same on an rclone mount, against the bare mount. */
export async function measureProgramsOnMount(report: Report): Promise<void> {
  for (const needed of ['radosgw', 'rclone', 'fuse'] as const) {
    const { available, reason } = component(needed)
    if (!available) throw new Error(`needs ${needed}: ${reason}`)
  }
  await using server = await startCephServer()
  await using scratch = await createScratchDirectory()
  const { endpoint, region, credentials, bucket } = server
  const attributeCacheTime = 1_000
  await using adapter = await createRcloneAdapter({
    endpoint,
    region,
    credentials,
    provider: 'Ceph',
    bucket,
    prefix: 'programs',
    owner: ordinaryOwner(),
    directory: join(scratch.path, 'state'),
    directoryCacheTime: 600_000,
    attributeCacheTime,
  })
  const directory = String(adapter.hostPath?.(parseMountPath('/')))
  const sizes = { files: 50, modules: 10, packages: 3, repeats: 1 }
  const settle = async () => await adapter.flush?.()
  // a little longer, since time is measured at both ends
  await measureIn({
    directory,
    adapter,
    sizes,
    report,
    place: 'rclone mount',
    maxStaleness: attributeCacheTime + 50,
    settle,
  })
}

interface Site extends Omit<Conditions, 'plain' | 'runners'> {
  readonly directory: string
  readonly adapter: StorageAdapter
  readonly sizes: Sizes
  readonly report: Report
}

async function measureIn({ directory, adapter, sizes, report, ...conditions }: Site): Promise<void> {
  const plain = plainRunner(directory)
  await prepare(plain, sizes)
  await conditions.settle?.()
  await using stack = new AsyncDisposableStack()
  const runners = await Promise.all(
    subjects.map(async (subject) => {
      const runner = stack.use(await openRunner(subject, adapter))
      await runner.run('true').catch(() => undefined) // what fails here fails again below, and is shown there
      return runner
    }),
  )
  for (const program of programsFor(sizes)) {
    if (program.fileless === true && conditions.maxStaleness > 0) continue
    report(await measureProgram(program, { ...conditions, plain, runners }))
  }
}
