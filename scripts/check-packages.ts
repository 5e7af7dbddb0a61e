// Packs every public package as it would be published, lints the tarballs (publint, attw), and looks for links and
// imports that readers of npm do not have. It also proves the isolation promise: the core and the memory adapter bring
// neither a cloud client nor a process library.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'

import { extractPaths } from '../apps/examples/test/readme/extract.ts'
import { capture, repositoryRoot } from './lib/run.ts'

interface Tarball {
  readonly name: string
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

const unwanted = ['@aws-sdk', '@smithy', 'execa']

const scratch = mkdtempSync(join(tmpdir(), 'ws-pack-'))
try {
  const tarballs = pack(scratch)
  const published = new Set(tarballs.map(({ name }) => name))
  const problems = [
    ...tarballs.flatMap(lint),
    ...tarballs.flatMap((tarball) => checkContents(tarball, published)),
    ...checkIsolation(tarballs),
  ]
  for (const problem of problems) console.error(problem)
  console.log(`packages: ${tarballs.length} packed and checked, ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** In the order of their dependencies, one at a time: packing builds, and a build reads what others have built. */
function pack(destination: string): Tarball[] {
  // the attack and the benchmark are run from the repository and not published
  const folders = [
    '--filter=./packages/*',
    '--filter=./apps/*',
    '--filter=!@ws/attack',
    '--filter=!@ws/bench',
    '--filter=!@ws/agent-service',
    '--filter=!@ws/examples',
    '--filter=!@ws/tests-*',
    '--filter=!@ws/bridge-fixtures',
  ]
  const selection = ['-r', '--workspace-concurrency=1', ...folders]
  const output = capture('pnpm', [...selection, 'pack', '--json', '--pack-destination', destination])
  // what the builds print comes before the result
  return JSON.parse(output.slice(output.search(/^\[$/mu))) as Tarball[]
}

function lint({ name, filename, files }: Tarball): string[] {
  const problems = []
  if (!files.some(({ path }) => path === 'dist/index.js')) problems.push(`${name}: the tarball has no dist/index.js`)
  const stray = files.filter(({ path }) => /(^|\/)(test|\.[^/]+)\/|\.tsbuildinfo$|\.test\.|\.env/u.test(path))
  problems.push(...stray.map(({ path }) => `${name}: ${path} must not be published`))
  const linters = [
    ['publint', 'run', filename, '--strict', '--pack', 'false'],
    [
      'attw',
      filename,
      '--profile',
      'esm-only',
      '--no-definitely-typed',
      '--format',
      'ascii',
      '--no-emoji',
      '--no-color',
    ],
  ] as const
  for (const [program, ...args] of linters) {
    try {
      capture(program, args)
    } catch (error) {
      problems.push(`${name}: ${String(error)}`)
    }
  }
  return problems
}

/** Checks a package as npm shows it: no link leads nowhere, and no import is missing. */
function checkContents({ name, filename, files }: Tarball, published: ReadonlySet<string>): string[] {
  const contentOf = (path: string) => capture('tar', ['-xOf', filename, `package/${path}`])
  const manifest = JSON.parse(contentOf('package.json')) as Readonly<Record<string, unknown>>
  const readme = contentOf('README.md')
  const { links } = extractPaths(readme)
  const imports = [...readme.matchAll(/from '(@ws\/[a-z0-9-]+)/gu)].map(([, imported = '']) => imported)
  return [
    ...('devDependencies' in manifest ? [`${name}: package.json has devDependencies, which nobody can install`] : []),
    ...['description', 'keywords']
      .filter((field) => !(field in manifest))
      .map((field) => `${name}: package.json has no ${field}`),
    ...links
      .filter((link) => !files.some(({ path }) => path === normalize(link)))
      .map((link) => `${name}: README.md links to ${link}, which is not in the package`),
    ...new Set(imports.filter((imported) => !published.has(imported)))
      .values()
      .map((imported) => `${name}: README.md imports ${imported}, which is not published`),
  ]
}

function checkIsolation(tarballs: readonly Tarball[]): string[] {
  const names = ['@ws/core', '@ws/adapter-memory']
  const needed = withDependencies(names)
  const chosen = tarballs.filter(({ name }) => needed.has(name))
  if (chosen.length !== needed.size) return [`isolation: not all of ${[...needed].join(', ')} were packed`]

  const project = join(scratch, 'empty-project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }\n')
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  capture('npm', ['install', ...quiet, ...chosen.map(({ filename }) => filename)], { cwd: project })

  const modules = join(project, 'node_modules')
  const installed = readdirSync(modules, { recursive: true, encoding: 'utf8' })
  const found = unwanted.filter((name) => installed.some((path) => `/${path}/`.includes(`/${name}/`)))
  const problems = found.map((name) => `isolation: installing ${names.join(' and ')} brings in ${name}`)
  for (const name of names) {
    if (!existsSync(join(modules, name))) problems.push(`isolation: ${name} is not installed`)
  }
  const check = names.map((name) => `await import('${name}')`).join('; ')
  capture(process.execPath, ['--input-type=module', '--eval', check], {
    cwd: project,
    env: { PATH: process.env['PATH'] },
  })
  return problems
}

/** Nothing is published yet, so that npm must be given every package of ours that these depend on. */
function withDependencies(names: readonly string[]): Set<string> {
  const all = new Set<string>()
  const pending = [...names]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (all.has(name)) continue
    all.add(name)
    const path = join(repositoryRoot, 'packages', name.replace('@ws/', ''), 'package.json')
    const { dependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as { dependencies?: Record<string, string> }
    pending.push(...Object.keys(dependencies).filter((dependency) => dependency.startsWith('@ws/')))
  }
  return all
}
