import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { deep } from '../tier.ts'
import { packageOf } from './report.ts'

/** The files of the deep tier that take minutes, and wait for most of them: the longest first. */
const longest = [
  'threads/test/turns',
  'tests-commands/test/scarcity/scarcity',
  'adapter-s3/test/conformance',
  'tests-commands/test/commands/sanitize',
  'tests-files/test/hostile/links',
  'examples/test/quick-starts',
  'snapshots/test/stores',
  'snapshots/test/undo',
  'snapshots/test/failures',
]

/**
 * The core first, where mistakes show soonest. Then the packages with the most files, so that small ones are left for the
 * end, when workers run out of work; those that share workers come before those that do not. In the deep tier, the longest
 * files begin: with one of them last, the others would wait for it.
 */
export class LargestPackagesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const first = deep ? longest.flatMap((part) => sorted.filter(({ moduleId }) => isPart(moduleId, part))) : []
    const packages = Map.groupBy(
      sorted.filter((file) => !first.includes(file)),
      ({ moduleId }) => packageOf(moduleId),
    )
    const others = [...packages]
      .toSorted(([a, ofA], [b, ofB]) => rank(b, ofB) - rank(a, ofA))
      .flatMap(([, specifications]) => specifications)
    return [...first, ...others]
  }
}

const isPart = (file: string, part: string): boolean => file.endsWith(`/${part}.test.ts`)

function rank(folder: string, files: readonly TestSpecification[]): number {
  if (folder.endsWith('/packages/core')) return Infinity
  return files.length + (files[0]?.project.name === 'shared' ? 1_000 : 0)
}
