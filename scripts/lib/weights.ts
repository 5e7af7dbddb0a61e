import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import { manifestOf, publicFolders } from './packed.ts'
import { repositoryRoot } from './run.ts'

/** Limits of foreign packages and megabytes for an install of each package, slightly above the present values. */
const budgets: Readonly<Record<string, readonly [packages: number, megabytes: number]>> = {
  '@ws/adapter-local': [27, 11],
  '@ws/adapter-memory': [3, 2],
  '@ws/adapter-rclone': [27, 11],
  '@ws/adapter-replica': [28, 12],
  '@ws/adapter-s3': [33, 15],
  '@ws/bridge-ai-sdk': [61, 25],
  '@ws/bridge-anthropic': [30, 18],
  '@ws/bridge-deepagents': [31, 18],
  '@ws/bridge-mastra': [30, 18],
  '@ws/bridge-openai-agents': [43, 25],
  '@ws/cli': [60, 25],
  '@ws/command-parser': [5, 4],
  '@ws/conformance': [0, 0],
  '@ws/core': [0, 0],
  '@ws/documents': [23, 9],
  '@ws/download': [9, 6],
  '@ws/executor-bubblewrap': [24, 4],
  '@ws/executor-machine': [34, 9],
  '@ws/executor-proot': [24, 4],
  '@ws/executor-sandbox-runtime': [24, 4],
  '@ws/executor-sanitize': [25, 5],
  '@ws/executor-virtual': [25, 8],
  '@ws/mcp-server': [50, 38],
  '@ws/observability': [0, 0],
  '@ws/network': [1, 1],
  '@ws/runner': [67, 33],
  '@ws/sandbox': [24, 4],
  '@ws/shell-tools': [1, 5],
  '@ws/snapshots': [28, 12],
  '@ws/testing': [3, 2],
  '@ws/text-search': [5, 4],
  '@ws/threads': [20, 18],
  '@ws/tools': [30, 18],
  '@ws/tree': [27, 11],
}

/** Packages whose installs exceed their budgets, packages without a budget, and budgets without a package. */
export function checkWeights(): string[] {
  const published = new Set(publicFolders().map((folder) => manifestOf(folder).name))
  const stale = Object.keys(budgets).filter((name) => !published.has(name))
  const grown = publicFolders().flatMap((folder) => {
    const { name } = manifestOf(folder)
    const { packages, megabytes } = weigh(folder)
    const is = `${packages} packages of others, ${megabytes} MB`
    const [most, size] = budgets[name] ?? [-1, -1]
    if (packages <= most && megabytes <= size) return []
    return [`${name}: an install brings ${is}; its budget in scripts/lib/weights.ts is ${most} and ${size} MB`]
  })
  return [...grown, ...stale.map((name) => `${name}: has a budget in scripts/lib/weights.ts, and is not published`)]
}

/** Packages that npm installed into a project: the number of foreign packages, and megabytes of all. */
export function weighInstalled(project: string): { readonly others: number; readonly megabytes: number } {
  // npm's own list, which leaves out optional packages for other machines
  const lock = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, unknown>>
  }
  const places = Object.keys(lock.packages)
  const bytes = places.reduce((sum, place) => sum + sizeOf(join(project, place)), 0)
  return { others: places.filter((place) => !place.includes('node_modules/@ws/')).length, megabytes: bytes / 1_000_000 }
}

/** Estimates a package's install: the packages installed here stand for those that npm would install. */
function weigh(folder: string): { readonly packages: number; readonly megabytes: number } {
  const found = new Map<string, number>()
  const seen = new Set<string>()
  const pending = [resolve(repositoryRoot, folder)]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const real = realpathSync(place)
    if (seen.has(real)) continue
    seen.add(real)
    const { name, dependencies, optionalDependencies } = manifestOf(real)
    if (!name.startsWith('@ws/')) found.set(real, sizeOf(real))
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const at = [join(real, 'node_modules', dependency), ...above(real).map((parent) => join(parent, dependency))]
      const installed = at.find((one) => existsSync(join(one, 'package.json')))
      if (installed !== undefined) pending.push(installed)
    }
  }
  const bytes = [...found.values()].reduce((sum, size) => sum + size, 0)
  return { packages: found.size, megabytes: Math.ceil(bytes / 1_000_000) }
}

function above(folder: string): string[] {
  const parents: string[] = []
  for (let place = dirname(folder); place !== dirname(place); place = dirname(place)) {
    if (place.endsWith('/node_modules')) parents.push(place)
  }
  return parents
}

/** Bytes of all files of a package, without nested installs. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + sizeOf(join(folder, entry.name))
    return entry.isFile() ? sum + statSync(join(folder, entry.name)).size : sum
  }, 0)
}
