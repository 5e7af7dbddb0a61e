// Measures how easy the repository is to live in: lines and public names of each package, long files, circles between
// folders, and sentences without a subject (`npm run lint` lists them). With --json it prints the numbers for a comparison.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { cruise, type IModule } from 'dependency-cruiser'

import { folderCircles } from './lib/circles.ts'
import { dependencyRules } from './lib/dependency-rules.ts'
import { publicNames } from './lib/public-names.ts'
import { repositoryRoot } from './lib/run.ts'
import { headlessSentences } from './lib/translated.ts'

const maxLines = 250

process.chdir(repositoryRoot)
const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })

const packages = globSync('{packages,apps}/*/package.json')
  .sort()
  .map((file) => measure(dirname(file)))
const result = {
  packages,
  total: sum(packages.map(({ code }) => code)),
  longFiles: globSync('{packages,apps}/*/{src,test}/**/*.ts')
    .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > maxLines)
    .sort((left, right) => right.lines - left.lines),
  circles: folderCircles(await modulesOf(['packages', 'apps'])),
  headlessSentences: headlessSentences().length,
}

if (values.json) console.log(JSON.stringify(result, undefined, 2))
else print()

interface PackageSize {
  readonly name: string
  readonly files: number
  readonly code: number
  readonly comment: number
  /** Names by the door that exports them. */
  readonly names: Readonly<Record<string, number>>
}

function measure(folder: string): PackageSize {
  const files = globSync(`${folder}/src/**/*.ts`)
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').split('\n')).map((line) => line.trim())
  const written = lines.filter((line) => line !== '')
  const comment = written.filter((line) => /^(?:\/\/|\/\*|\*)/u.test(line)).length
  return { name: folder, files: files.length, code: written.length - comment, comment, names: doors(folder) }
}

function doors(folder: string): Record<string, number> {
  const { exports = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { exports?: object }
  const counted: Record<string, number> = {}
  for (const [door, target] of Object.entries(exports) as [string, string | Record<string, string>][]) {
    const source = typeof target === 'string' ? target : target['@ws/source']
    if (source?.endsWith('.ts') !== true) continue
    const file = join(folder, source)
    if (existsSync(file)) counted[door] = publicNames(file).size
  }
  return counted
}

async function modulesOf(folders: string[]): Promise<readonly IModule[]> {
  const { output } = await cruise(folders, dependencyRules.options ?? {})
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with text instead of a result')
  return output.modules
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function print(): void {
  for (const { name, files, code, comment, names } of packages) {
    const exported = Object.entries(names).map(([door, count]) => `${door} ${count}`)
    console.log(
      `${name.padEnd(32)}${`${code}`.padStart(6)} lines ${`${comment}`.padStart(5)} comment ${`${files}`.padStart(4)} files  ${exported.join(', ')}`,
    )
  }
  console.log(`\n${result.total} lines of code`)
  console.log(`${result.longFiles.length} files over ${maxLines} lines:`)
  for (const { file, lines } of result.longFiles) console.log(`  ${lines} ${file}`)
  console.log(`${result.circles.length} circles between folders:`)
  for (const circle of result.circles) console.log(`  ${circle.join(' ')}`)
  console.log(`${result.headlessSentences} sentences that begin with "what" or "who" and ask nothing`)
}
