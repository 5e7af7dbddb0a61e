import { globSync } from 'node:fs'

import { packageFolders } from '@ws/test-fixtures/report'
import { cruise, type ICruiseResult } from 'dependency-cruiser'

import { folderArrows, folderCircles } from './circles.ts'
import { dependencyRules } from './dependency-rules.ts'

/** Checks all imports of the repository against the rules. Takes 8 s of processor time. */
export async function cruiseImports(): Promise<ICruiseResult> {
  const { forbidden = [], options = {} } = dependencyRules
  const folders = ['packages', 'apps', 'lab', 'test-fixtures', 'scripts']
  const { output } = await cruise(folders, { ...options, validate: true, ruleSet: { forbidden } })
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with text instead of a result')
  return output
}

/** Prints the imports that break a rule, between packages or between folders of a package. False if there are any. */
export function checkImports({ summary, modules }: ICruiseResult): boolean {
  for (const { rule, from, to, cycle } of summary.violations) {
    const path = cycle === undefined ? to : cycle.map(({ name }) => name).join(' → ')
    const reason = dependencyRules.forbidden?.find(({ name }) => name === rule.name)?.comment ?? ''
    console.error(`${rule.name}: ${from} → ${path}  ${reason}`)
  }

  const circles = folderCircles(folderArrows(modules))
  for (const circle of circles) console.error(`folders that import each other: ${circle.join(' ')}`)

  // with an unsupported compiler, dependency-cruiser finds no modules
  const seen = new Set(modules.map(({ source }) => source))
  const sources = globSync(`${packageFolders}/src/**/*.ts`)
  const missed = sources.filter((source) => !seen.has(source))
  if (sources.length === 0 || missed.length > 0) {
    console.error(`dependency-cruiser saw ${seen.size} modules; of ${sources.length} sources it missed:`, missed)
  }
  const breaches = summary.violations.length + circles.length
  console.log(`dependencies: ${seen.size} modules, ${summary.totalDependenciesCruised} imports, ${breaches} breaches`)
  return breaches === 0 && sources.length > 0 && missed.length === 0
}
