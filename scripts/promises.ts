// Writes docs/promises.md from the reports of the last run of each tier: how many promises of the conformance kit each
// shows on each implementation.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type TestReport, type Tier, tiers } from '@ws/test-fixtures/report'

import { readReport, testedPackages } from './lib/reports.ts'
import { repositoryRoot } from './lib/run.ts'

interface Row {
  readonly of: string
  readonly contract: string
  readonly implementation: string
  readonly counts: Readonly<Record<Tier, number>>
}

const tested = tiers.map((tier) => testedPackages(tier))
const rows = [...new Set(tested.flat())].flatMap((of): Row[] => {
  const promises = Object.fromEntries(
    tiers.map((tier, index) => {
      if (tested[index]?.includes(of) !== true) return [tier, {}]
      const report = readReport(of, tier)
      if (report === undefined) throw new Error(`${of} has no report of the tier ${tier}; run all tiers first`)
      return [tier, report.promises]
    }),
  ) as Record<Tier, TestReport['promises']>
  return [...new Set(tiers.flatMap((tier) => Object.keys(promises[tier])))].map((suite) => {
    const [, contract = '', implementation = ''] = /^(.+?): (.+)$/u.exec(suite) ?? []
    const counts = Object.fromEntries(tiers.map((tier) => [tier, promises[tier][suite] ?? 0])) as Row['counts']
    return { of, contract, implementation, counts }
  })
})

const sections = Map.groupBy(
  rows.filter(({ of }) => of !== 'apps/tests-kit'),
  ({ contract }) => contract,
)
const page = [
  '# Which promise is shown where',
  '',
  'Each test of `@ws/conformance` is one promise of a contract. `npm test` and `npm run test:all` show each promise on each',
  'implementation once. The deep tier shows it on the other forms, roots and layers, and with large numbers. `npm run promises`',
  'writes this page from the reports of the last runs. A promise that an implementation does not make is skipped, and not counted.',
  '',
  ...[...sections]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .flatMap(([contract, found]) => [
      `## ${contract[0]?.toUpperCase()}${contract.slice(1)}`,
      '',
      '| implementation | `npm test` | `test:all` | deep tier | in |',
      '| --- | --- | --- | --- | --- |',
      ...found
        .toSorted((a, b) => a.implementation.localeCompare(b.implementation))
        .map(({ of, implementation, counts: { short, all, deep } }) => {
          return `| ${implementation} | ${shown(short)} | ${shown(all)} | ${shown(deep)} | \`${of}\` |`
        }),
      '',
    ]),
].join('\n')
writeFileSync(join(repositoryRoot, 'docs/promises.md'), page)
console.log(`docs/promises.md: ${rows.length} implementations`)

function shown(count: number): string {
  return count === 0 ? '–' : String(count)
}
