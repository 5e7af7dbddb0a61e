// Checks the imports between packages (lib/dependency-rules.ts) and between the folders of each. With a compiler it
// cannot use, dependency-cruiser finds no modules and reports success: so their number is part of the check.
import { globSync } from 'node:fs'

import { cruise, type ICruiseResult } from 'dependency-cruiser'

import { folderArrows, folderCircles } from './lib/circles.ts'
import { dependencyRules } from './lib/dependency-rules.ts'
import { repositoryRoot } from './lib/run.ts'

process.chdir(repositoryRoot)
const { forbidden = [], options = {} } = dependencyRules
const folders = ['packages', 'apps', 'test-fixtures', 'scripts']
const { output } = await cruise(folders, { ...options, validate: true, ruleSet: { forbidden } })
if (typeof output === 'string') throw new Error('dependency-cruiser answered with text instead of a result')
const { summary, modules }: ICruiseResult = output

for (const { rule, from, to, cycle } of summary.violations) {
  const path = cycle === undefined ? to : cycle.map(({ name }) => name).join(' → ')
  const reason = forbidden.find(({ name }) => name === rule.name)?.comment ?? ''
  console.error(`${rule.name}: ${from} → ${path}  ${reason}`)
}

// a type may point back, as between files
const circles = folderCircles(folderArrows(modules, { types: false }))
for (const circle of circles) console.error(`folders that import each other: ${circle.join(' ')}`)

const seen = new Set(modules.map(({ source }) => source))
const sources = globSync('{packages,apps}/*/src/**/*.ts')
const missed = sources.filter((source) => !seen.has(source))
if (sources.length === 0 || missed.length > 0) {
  console.error(`dependency-cruiser saw ${seen.size} modules; of ${sources.length} sources it missed:`, missed)
}
const failed = summary.violations.length > 0 || circles.length > 0 || sources.length === 0 || missed.length > 0
console.log(
  `dependencies: ${seen.size} modules, ${summary.totalDependenciesCruised} imports, ${summary.violations.length + circles.length} breaches`,
)
process.exitCode = failed ? 1 : 0
