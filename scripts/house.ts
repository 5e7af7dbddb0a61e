// Measures the size and the dependencies of the repository. `--check` fails if a number exceeds house.json, or an
// import breaks a rule. `--write` stores numbers that have fallen. Enter allowances by hand.
import { execFileSync, fork } from 'node:child_process'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { checkImports, cruiseImports } from './lib/imports.ts'
import { type Door, publicNames, unusedNames } from './lib/public-names.ts'
import { repositoryRoot } from './lib/run.ts'

const maxLines = 250
const limitsFile = 'scripts/house.json'
const withoutUser = 'public names without a user'
const ways = new Map([
  ['read 4 KiB, local', 'files on the way of a read'],
  ['write 4 KiB, local', 'files on the way of a write'],
  ['exec true, bubblewrap, one deny', 'files on the way of a command'],
])

process.chdir(repositoryRoot)
const flag = { type: 'boolean', default: false } as const
const { check, write } = parseArgs({ options: { check: flag, write: flag } }).values

const folders = ['packages', 'apps', 'lab', 'scripts', 'test-fixtures']
const all = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders, 'docs', '*.md'])
  .toString()
  .split('\n')
  .filter((file) => !file.includes('/sample-project/') && existsSync(file))
const sources = all.filter((file) => /\.(?:ts|js|mjs|pl|py|sh|c)$/u.test(file) && !/^docs\/|\/test\//u.test(file))
const unused = unusedNames(
  doors(),
  all.filter((file) => /\.(?:ts|mjs|vue|md)$/u.test(file)),
)
const imports = await cruiseImports()
const imported = !check || checkImports(imports)
const limits = JSON.parse(readFileSync(limitsFile, 'utf8')) as Readonly<Record<string, number>>
const numbers = await measure()

const raised = Object.entries(numbers).filter(([name, number]) => number > (limits[name] ?? Infinity))
const fallen = Object.entries(numbers).filter(([name, number]) => number < (limits[name] ?? Infinity))
if (write) writeFileSync(limitsFile, `${JSON.stringify({ ...limits, ...Object.fromEntries(fallen) }, undefined, 2)}\n`)
if (!check) print()
for (const [name, number] of raised) {
  console.error(
    `house: ${name} rose from ${limits[name]} to ${number}; make the change smaller, or write an allowance into ${limitsFile}.`,
  )
}
if (raised.some(([name]) => name === withoutUser)) console.error(`house: ${withoutUser}:\n${unused.join('\n')}`)
console.log(
  `house: ${raised.length} numbers rose, ${fallen.length} fell${fallen.length > 0 && !write ? '; `npm run house -- --write` keeps them' : ''}`,
)
process.exitCode = raised.length > 0 || !imported ? 1 : 0

async function measure(): Promise<Record<string, number>> {
  return {
    units: globSync('{packages,apps,lab}/**/package.json', { exclude: ['**/node_modules', '**/test'] }).length,
    'source lines': sum(sources.map((file) => linesOf(file).length)),
    'comment lines': sum(
      sources.map((file) => linesOf(file).filter((line) => /^\s*(?:\/\/|\/\*|\*)/u.test(line)).length),
    ),
    'public names': sum(doors().map(({ names }) => names.size)),
    [withoutUser]: unused.length,
    [`files over ${maxLines} lines`]: sources.filter((file) => linesOf(file).length > maxLines).length,
    ...(await measureWays()),
  }
}

function doors(): Door[] {
  return globSync('{packages,apps,lab}/**/package.json', { exclude: ['**/node_modules', '**/test'] }).flatMap(
    (file) => {
      const { name, exports = {} } = JSON.parse(readFileSync(file, 'utf8')) as { name: string; exports?: object }
      return Object.entries(exports as Record<string, string | Record<string, string>>).flatMap(([door, target]) => {
        const source = join(dirname(file), (typeof target === 'string' ? target : target['@ws/source']) ?? '')
        if (!source.endsWith('.ts') || !existsSync(source)) return []
        return [{ door: join(name, door), source, names: publicNames(source) }]
      })
    },
  )
}

/** Repeats the measurement after a pause, since calls take longer paths on a busy disk. Without bubblewrap, commands are not measured. */
async function measureWays(tries = 5): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  const child = fork('lab/bench/src/section.ts', ['ways'], { execArgv: ['--expose-gc', '--conditions=@ws/source'] })
  child.on('message', ({ name, figures }: { name: string; figures: readonly { median: number }[] }) => {
    const number = ways.get(name)
    if (number !== undefined) found[number] = figures[0]?.median ?? 0
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  if (code !== 0) throw new Error(`the ways could not be measured: the process ended with ${String(code)}`)
  if (tries <= 1 || Object.entries(found).every(([name, number]) => number <= (limits[name] ?? 0))) return found
  await delay(5_000)
  return measureWays(tries - 1)
}

function print(): void {
  const byUnit = Map.groupBy(
    sources,
    (file) => /^(?:packages\/shell-tools|packages\/[^/]+\/[^/]+|(?:apps|lab)\/[^/]+|[^/]+)/u.exec(file)?.[0] ?? '',
  )
  for (const [unit, files] of byUnit)
    console.log(`${String(sum(files.map((file) => linesOf(file).length))).padStart(7)} ${unit}`)
  for (const { door, names } of doors()) console.log(`${String(names.size).padStart(7)} names of ${door}`)
  for (const name of unused) console.log(`without a user: ${name}`)
  for (const [name, number] of Object.entries(numbers))
    console.log(`${String(number).padStart(7)} ${name} (${limits[name] ?? 'new'})`)
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
