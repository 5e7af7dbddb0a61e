import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'

import type { Report } from '../measure.ts'
import { openRcloneMount } from '../rclone-mount.ts'
import { makeDirectory } from '../site.ts'
import { type Sizes, prepare } from './prepare.ts'
import { programsFor } from './programs.ts'
import { type Conditions, measureProgram } from './rounds.ts'
import { openRunner, plainRunner, subjects } from './runners.ts'

/** Measures common programs in every executor, against the same command without a workspace, on a local disk. */
export async function measurePrograms(report: Report): Promise<void> {
  await using scratch = await createScratchDirectory()
  const directory = join(scratch.path, 'files')
  makeDirectory(directory)
  await using adapter = await createLocalAdapter({ root: directory, owner: ordinaryOwner() })
  const sizes = { files: 1_000, modules: 300, packages: 10, repeats: 4 }
  await measureIn({ directory, adapter, sizes, report, place: 'local disk', maxStaleness: 0 })
}

export async function measureProgramsOnMount(report: Report): Promise<void> {
  await using mount = await openRcloneMount('programs')
  const sizes = { files: 50, modules: 10, packages: 3, repeats: 1 }
  await measureIn({ ...mount, sizes, report, place: 'rclone mount' })
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
