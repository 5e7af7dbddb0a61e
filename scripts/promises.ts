// Writes docs/promises.md from the reports of the last `npm test` and the last `npm run test:deep`: how many promises of
// the conformance kit each tier shows on each implementation.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { readReport, testedPackages } from './lib/reports.ts'
import { repositoryRoot } from './lib/run.ts'

interface Row {
  readonly of: string
  readonly contract: string
  readonly implementation: string
  readonly quick: number
  readonly deep: number
}

const rows = testedPackages().flatMap((of): Row[] => {
  const [quick, deep] = [readReport(of, false), readReport(of, true)]
  if (quick === undefined || deep === undefined) {
    throw new Error(`${of} has no report of both tiers; run npm test and npm run test:deep first`)
  }
  return [...new Set([...Object.keys(quick.promises), ...Object.keys(deep.promises)])].map((suite) => {
    const [, contract = '', implementation = ''] = /^(.+?): (.+)$/u.exec(suite) ?? []
    return { of, contract, implementation, quick: quick.promises[suite] ?? 0, deep: deep.promises[suite] ?? 0 }
  })
})

const sections = Map.groupBy(
  rows.filter(({ of }) => of !== 'apps/tests-kit'),
  ({ contract }) => contract,
)
const page = [
  '# Which promise is shown where',
  '',
  'Each test of `@ws/conformance` is one promise of a contract. `npm test` shows each promise on each implementation once.',
  'The deep tier shows it on the other forms, roots and layers, and with large numbers. `npm run promises` writes this page',
  'from the reports of the last two runs. A promise that an implementation does not make is skipped, and not counted.',
  '',
  ...[...sections]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .flatMap(([contract, found]) => [
      `## ${contract[0]?.toUpperCase()}${contract.slice(1)}`,
      '',
      '| implementation | `npm test` | deep tier | in |',
      '| --- | --- | --- | --- |',
      ...found
        .toSorted((a, b) => a.implementation.localeCompare(b.implementation))
        .map(({ of, implementation, quick, deep }) => {
          return `| ${implementation} | ${shown(quick)} | ${shown(deep)} | \`${of}\` |`
        }),
      '',
    ]),
].join('\n')
writeFileSync(join(repositoryRoot, 'docs/promises.md'), page)
console.log(`docs/promises.md: ${rows.length} implementations`)

function shown(count: number): string {
  return count === 0 ? '–' : String(count)
}
