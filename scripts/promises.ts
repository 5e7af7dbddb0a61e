// Counts the promises of the kit that each tier shows, for docs/promises.md. Needs the packages of `scripts/setup-deep.sh`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { kitContracts, tiers } from '@ws/test-fixtures/report'

import { readReport, testedPackages } from './lib/reports.ts'
import { repositoryRoot, run } from './lib/run.ts'

const shownIn = tiers.map((tier) => {
  const env = { ...process.env, WS_TIER: tier, WS_REQUIRE_ALL: '1' }
  if (run('vitest', ['run', '--testNamePattern', `(${kitContracts.join('|')}): `], { env }) !== 0)
    throw new Error(`docs/promises.md stays as it is: the kit failed in the tier ${tier}, or a component is missing`)
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
const page = [
  '# Which promise is shown where',
  '',
  'Each test of `@ws/conformance` is one promise of a contract. `npm test` and `npm run test:all` show each promise on each',
  'implementation once. The deep tier shows it on the other forms, roots and layers, and with large numbers. `npm run promises`',
  'runs the kit and writes this page. A promise that an implementation does not make is skipped, and not counted.',
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
        .map(({ of, implementation, counts }) => {
          return `| ${implementation} | ${counts.map((n) => (n === 0 ? '–' : n)).join(' | ')} | \`${of}\` |`
        }),
      '',
    ]),
].join('\n')
writeFileSync(join(repositoryRoot, 'docs/promises.md'), page)
console.log(`docs/promises.md: ${rows.length} implementations`)
