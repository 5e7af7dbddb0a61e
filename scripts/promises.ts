// Runs the kit in every tier, and prints how many promises each shows: docs/promises.md. Needs the packages of `scripts/setup-deep.sh`.
import { kitContracts, tiers } from '@ws/test-fixtures/report'

import { readReport, testedPackages } from './lib/reports.ts'
import { run } from './lib/run.ts'

const shownIn = tiers.map((tier) => {
  const env = { ...process.env, WS_TIER: tier, WS_REQUIRE_ALL: '1' }
  if (run('vitest', ['run', '--testNamePattern', `(${kitContracts.join('|')}): `], { env }) !== 0)
    throw new Error(`there is no table: the kit failed in the tier ${tier}, or a component is missing`)
  const suites = testedPackages(tier).map((of) => [of, readReport(of, tier)?.promises ?? {}] as const)
  return new Map(suites.flatMap(([of, counts]) => Object.entries(counts).map(([suite, n]) => [`${of} ${suite}`, n])))
})
const rows = [...new Set(shownIn.flatMap((counts) => [...counts.keys()]))].map((key) => {
  const [, of = '', contract = '', implementation = ''] = /^(\S+) (.+?): (.+)$/u.exec(key) ?? []
  return { of, contract, implementation, counts: shownIn.map((counts) => counts.get(key) ?? 0) }
})

const sections = Map.groupBy(
  rows.filter(({ of }) => of !== 'lab/tests-kit'),
  ({ contract }) => contract,
)
const page = [...sections]
  .toSorted(([a], [b]) => a.localeCompare(b))
  .flatMap(([contract, found]) => [
    `## ${contract[0]?.toUpperCase()}${contract.slice(1)}`,
    '',
    '| implementation | `npm test` | `test:all` | deep tier | in |',
    '| --- | --- | --- | --- | --- |',
    ...found
      .toSorted((a, b) => a.implementation.localeCompare(b.implementation))
      .map(({ of, implementation, counts }) => {
        return `| ${implementation} | ${counts.map((n) => (n === 0 ? '–' : n)).join(' | ')} | \`${of}\` |`
      }),
    '',
  ])
console.log(page.join('\n'))
