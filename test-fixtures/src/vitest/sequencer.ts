import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { deep } from '../tier.ts'
import { packageOf } from './report.ts'

/** The slowest files of the deep tier, which mostly wait; longest first. */
const longest = [
  'threads/test/turns',
  'tests-commands/test/scarcity/scarcity',
  'adapters/s3/test/conformance',
  'tests-commands/test/commands/one-liners',
  'tests-files/test/hostile/links',
  'examples/test/quick-starts',
  'snapshots/test/stores',
  'snapshots/test/undo',
  'snapshots/test/failures',
]

/**
 * Sorts the core first, then packages with own workers, the largest first, then files of other packages in turn.
 * In the deep tier, the longest files come first.
 */
export class LargestPackagesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const first = sorted.filter(({ moduleId }) => isFirst(moduleId)).toSorted(byPlace)
    const others = sorted.filter((file) => !first.includes(file))
    const shared = packagesOf(others.filter(isShared))
    const own = packagesOf(others.filter((file) => !isShared(file)))
    const most = Math.max(0, ...shared.map(({ length }) => length))
    const inTurn = Array.from({ length: most }, (_, index) => shared.flatMap((one) => one.slice(index, index + 1)))
    return [...first, ...own.flat(), ...inTurn.flat()]
  }
}

const placeOf = (file: string): number => longest.findIndex((part) => file.endsWith(`/${part}.test.ts`))
const byPlace = (a: TestSpecification, b: TestSpecification): number => placeOf(a.moduleId) - placeOf(b.moduleId)
const isFirst = (file: string): boolean => (deep ? placeOf(file) >= 0 : packageOf(file).endsWith('/kernel/core'))
const isShared = ({ project }: TestSpecification): boolean => project.name.startsWith('shared')

function packagesOf(files: readonly TestSpecification[]): TestSpecification[][] {
  const packages = Map.groupBy(files, ({ moduleId }) => packageOf(moduleId))
  return [...packages.values()].toSorted((a, b) => b.length - a.length)
}
