import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

import { packageFolders } from '@ws/test-fixtures/report'

import { capture, repositoryRoot } from './run.ts'

export interface Tarball {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

/** Packs every public package after a fresh build, since a stale file in `dist` would be packed too. */
export function pack(destination: string): Tarball[] {
  mkdirSync(destination, { recursive: true })
  const folders = publicFolders()
  for (const folder of folders) rmSync(join(repositoryRoot, folder, 'dist'), { recursive: true, force: true })
  capture('tsc', ['-b', ...folders.map((folder) => join(folder, 'tsconfig.build.json'))])
  capture(process.execPath, [join(repositoryRoot, 'scripts/bundle.ts'), ...folders])
  const { packageManager } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as {
    readonly packageManager: string
  }
  const pnpm = (...args: readonly string[]) => capture('npx', ['-y', packageManager, ...args])
  pnpm('-r', '--if-present', 'run', 'bundle')
  const filters = folders.map((folder) => `--filter=./${folder}`)
  const options = ['--json', '--pack-destination', destination, '--config.ignore-scripts=true']
  return JSON.parse(pnpm('-r', ...filters, 'pack', ...options)) as Tarball[]
}

/** Folders of published packages. Private packages are run from the repository. */
export function publicFolders(): string[] {
  return globSync(`${packageFolders}/package.json`, { cwd: repositoryRoot })
    .filter((path) => !('private' in manifestOf(dirname(path))))
    .map((path) => dirname(path))
}

/** Installs packages into a project, which is made if missing: this project's from tarballs with all needs, others from the registry. */
export function installInto(project: string, names: readonly string[], tarballs: readonly Tarball[]): void {
  const { needed, optional } = withDependencies(names.filter((given) => given.startsWith('@ws/')))
  const fileOf = (name: string): string => {
    const tarball = tarballs.find((packed) => packed.name === name)
    if (tarball === undefined)
      throw new Error(`there is no package ${name}; \`packages\` and \`apps\` hold those that are`)
    return `file:${relative(project, tarball.filename)}`
  }
  const ours = Object.fromEntries([...needed].map((name) => [name, fileOf(name)]))
  mkdirSync(project, { recursive: true })
  const path = join(project, 'package.json')
  const old = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : undefined
  const own = Object.fromEntries(Object.keys(ours).map((name) => [name, `$${name}`]))
  const manifest = {
    ...(old ?? { private: true, type: 'module' }),
    dependencies: { ...old?.dependencies, ...ours },
    // without these, npm would look up this project's names in the registry, where strangers may have published packages
    overrides: { ...Object.fromEntries([...optional].map((name) => [name, fileOf(name)])), ...old?.overrides, ...own },
  }
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`)
  forgetLocked(project, Object.keys(ours))
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  const nowhere = '--@ws:registry=http://127.0.0.1:9/'
  const others = names.filter((name) => !name.startsWith('@ws/'))
  capture('npm', ['install', ...quiet, nowhere, ...others], { cwd: project })
}

/** Removes packages from the lock file: a new tarball has the same name, and npm would install the old content again. */
function forgetLocked(project: string, names: readonly string[]): void {
  const path = join(project, 'package-lock.json')
  if (!existsSync(path)) return
  const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, unknown> }
  for (const name of names) delete lock.packages[`node_modules/${name}`]
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly overrides?: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(resolve(repositoryRoot, folder, 'package.json'), 'utf8')) as Manifest
}

/** These packages with their dependencies in this project. `optional`: packages that npm looks up, but does not install. */
function withDependencies(names: readonly string[]): { needed: Set<string>; optional: Set<string> } {
  const manifests = new Map(publicFolders().map((folder) => [manifestOf(folder).name, manifestOf(folder)]))
  const needed = new Set<string>()
  const optional = new Set<string>()
  const pending = [...names]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (needed.has(name)) continue
    needed.add(name)
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifests.get(name) ?? {}
    for (const other of Object.keys({ ...dependencies, ...peerDependencies })) {
      if (!other.startsWith('@ws/')) continue
      if (peerDependenciesMeta?.[other]?.optional === true) optional.add(other)
      else pending.push(other)
    }
  }
  return { needed, optional: new Set([...optional].filter((name) => !needed.has(name))) }
}
