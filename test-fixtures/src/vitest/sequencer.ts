import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { deep } from '../tier.ts'

/**
 * The core first, where mistakes show soonest. Then the packages with the most files, so that small ones are left for the
 * end, when workers run out of work. The files of a package stay together: a worker keeps what they import. In the deep tier,
 * the package of the longest file begins: it waits for 14 minutes, and must not begin last.
 */
export class LargestPackagesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const packages = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    return [...packages]
      .toSorted(([a, ofA], [b, ofB]) => rank(b, ofB) - rank(a, ofA))
      .flatMap(([, specifications]) => specifications)
  }
}

const first = deep ? '@ws/threads' : '@ws/core'

const rank = (name: string, files: readonly TestSpecification[]): number => (name === first ? Infinity : files.length)
