import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The core first, where mistakes show soonest. Then the packages with the most files, so that small ones are left for the
 * end, when workers run out of work. The files of a package stay together: a worker keeps what they import.
 */
export class LargestPackagesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const packages = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    return [...packages]
      .toSorted(([a, ofA], [b, ofB]) => rank(b, ofB) - rank(a, ofA))
      .flatMap(([, specifications]) => specifications)
  }
}

const rank = (name: string, files: readonly TestSpecification[]): number =>
  name === '@ws/core' ? Infinity : files.length
