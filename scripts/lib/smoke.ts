import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { component, type Owner } from '@ws/test-fixtures'

import { extractExamples, installedBy } from '../../apps/examples/test/readme/extract.ts'
import { mounts, playExample } from '../../apps/examples/test/readme/play.ts'
import { missingLines } from '../../apps/examples/test/readme/run.ts'
import { installInto, type Tarball } from './packed.ts'
import { weighInstalled } from './weights.ts'

const run = promisify(execFile)

export interface SmokeOptions {
  readonly tarballs: readonly Tarball[]
  readonly nodes: ReadonlyMap<string, string>
  readonly project: string
  /** The user that runs the package. Default: the user of this process. */
  readonly user: Owner | undefined
}

export interface Smoked {
  readonly packed: number
  /** Number of installed packages from outside this project. */
  readonly others: number
  /** Size of all installed packages. */
  readonly megabytes: number
  readonly seen: readonly string[]
  readonly problems: readonly string[]
}

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>
  readonly bin?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Installs a package alone, measures it, imports its doors, runs its programs' help and its first example, on each Node version. */
export async function smokeTest({ name, filename }: Tarball, options: SmokeOptions): Promise<Smoked> {
  const { tarballs, nodes, project, user } = options
  installInto(project, [name], tarballs)
  const weight = { packed: statSync(filename).size, ...weighInstalled(project) }

  const own = join(project, 'node_modules', name)
  const { exports, bin = {}, peerDependencies = {}, peerDependenciesMeta = {} } = readManifest(own)
  const doors = Object.keys(exports).map((door) => `${name}${door.slice(1)}`)
  const shut = await importAll(process.execPath, doors, options)
  // a door for a framework may require an optional peer dependency
  const asked = new Set(shut.flatMap(({ names }) => names).filter((it) => peerDependenciesMeta[it]?.optional === true))
  const example = exampleOf(own)
  const others = [...asked].map((peer) => `${peer}@${peerDependencies[peer] ?? ''}`)
  if (example !== undefined || others.length > 0) {
    installInto(project, [name, ...others, ...(example?.packages ?? [])], tarballs)
  }

  const problems: string[] = []
  const attempt = async (title: string, action: () => Promise<string | undefined>): Promise<void> => {
    const problem = await action().catch((error: unknown) => String(error))
    if (problem !== undefined) problems.push(`${name}: ${title}: ${problem}`)
  }
  for (const [version, node] of nodes) {
    await attempt(`its doors on Node ${version}`, async () => {
      const failed = await importAll(node, doors, options)
      return failed.length === 0 ? undefined : failed.map(({ door, message }) => `${door}: ${message}`).join('; ')
    })
    for (const [program, path] of Object.entries(bin)) {
      await attempt(`\`${program} --help\` on Node ${version}`, async () => {
        const { stdout } = await run(node, [join(own, path), '--help'], { cwd: project, env: {}, ...user })
        return stdout.includes(program) ? undefined : 'it printed nothing of itself'
      })
    }
    if (example === undefined || example.lacks.length > 0) continue
    // a store behaves equally for every Node version, so one run is enough
    if (example.run.store !== undefined && node !== [...nodes.values()][0]) continue
    await attempt(`README.md:${example.run.line} on Node ${version}`, async () => {
      const as = mounts(example.run) ? undefined : user
      const printed = await playExample(example.run, { project, node, user: as })
      const missing = missingLines(example.run.prints, printed)
      return missing.length === 0 ? undefined : `it did not print ${missing.join(', ')}`
    })
  }
  const seen = [
    `${doors.length} doors${asked.size === 0 ? '' : ` (with ${[...asked].join(', ')})`}`,
    ...Object.keys(bin).map((program) => `\`${program} --help\``),
    ...(example === undefined ? [] : [describeExample(example)]),
  ]
  return { ...weight, seen, problems }
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

interface Shut {
  readonly door: string
  readonly message: string
  /** The words that the message quotes, including names of missing packages. */
  readonly names: readonly string[]
}

async function importAll(node: string, doors: readonly string[], { project, user }: SmokeOptions): Promise<Shut[]> {
  const code = `const shut = []
    for (const door of ${JSON.stringify(doors)}) {
      try {
        await import(door, door.endsWith('.json') ? { with: { type: 'json' } } : {})
      } catch ({ message }) {
        shut.push({ door, message, names: [...message.matchAll(/['\`]([^'\`]+)['\`]/g)].map(([, name]) => name) })
      }
    }
    console.log(JSON.stringify(shut))`
  const { stdout } = await run(node, ['--input-type=module', '--eval', code], { cwd: project, env: {}, ...user })
  return JSON.parse(stdout) as Shut[]
}

interface FirstExample {
  readonly run: ReturnType<typeof extractExamples>[number]
  /** Packages that the README installs above the example. */
  readonly packages: readonly string[]
  readonly lacks: readonly string[]
}

function exampleOf(folder: string): FirstExample | undefined {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const first = extractExamples(readme).find(({ noRun }) => noRun === undefined)
  if (first === undefined) return undefined
  const lacks = first.needs.filter((need) => !component(need).available)
  return { run: first, packages: installedBy(readme.split('\n', first.line)), lacks }
}

function describeExample({ run: { line, store }, lacks }: FirstExample): string {
  if (lacks.length > 0) return `README.md:${line} not run, needs ${lacks.join(', ')}`
  return `README.md:${line}${store === undefined ? '' : ' (on one Node)'}`
}
