import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, normalize } from 'node:path'

import { checkPackage, createPackageFromTarballData, type CheckResult } from '@arethetypeswrong/core'
import { problemAffectsResolutionKind } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

import { extractPaths } from '../../apps/examples/test/readme/extract.ts'
import { checkConsumer } from './consumer.ts'
import { checkLoads, runParts } from './loads.ts'
import { installInto, type Tarball } from './packed.ts'
import { checkPieces } from './pieces.ts'
import { capture } from './run.ts'
import { checkWeights } from './weights.ts'

interface Manifest {
  readonly description?: string
  readonly files?: readonly string[]
  readonly keywords?: readonly string[]
}

const unwanted = ['@aws-sdk', '@smithy', 'execa']

/** Lints tarballs (publint, attw), and checks their links, imports, dependencies and weights. */
export async function checkTarballs(tarballs: readonly Tarball[], scratch: string): Promise<string[]> {
  const published = new Set(tarballs.map(({ name }) => name))
  return [
    ...(await Promise.all(tarballs.map(lint))).flat(),
    ...tarballs.flatMap((tarball) => checkContents(tarball, published)),
    ...checkIsolation(tarballs, join(scratch, 'empty-project')),
    ...(await checkPieces(join(scratch, 'empty-project'))),
    ...checkWeights(),
    ...(await checkConsumer(tarballs, join(scratch, 'consumer'))),
    ...checkLoads(join(scratch, 'consumer')),
    ...runParts(join(scratch, 'consumer')),
  ]
}

async function lint({ name, filename, files }: Tarball): Promise<string[]> {
  const stray = files.filter(({ path }) => /(^|\/)(test|\.[^/]+)\/|\.tsbuildinfo$|\.test\.|\.env/u.test(path))
  const tarball = new Uint8Array(readFileSync(filename))
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true })
  const analysis = await checkPackage(createPackageFromTarballData(tarball))
  return [
    ...(files.some(({ path }) => path === 'dist/index.js') ? [] : [`${name}: the tarball has no dist/index.js`]),
    ...stray.map(({ path }) => `${name}: ${path} must not be published`),
    ...messages
      .filter(({ type }) => type === 'error')
      .map((message) => `${name}: ${formatMessage(message, pkg, { color: false }) ?? message.code}`),
    ...typeProblems(analysis).map((problem) => `${name}: ${problem}`),
  ]
}

/** Problems of a package's types. Packages are loaded as modules, by Node or a bundler, so problems of CommonJS do not count. */
function typeProblems(analysis: CheckResult): string[] {
  if (analysis.types === false) return ['the tarball has no types']
  return analysis.problems
    .filter((problem) =>
      (['node16-esm', 'bundler'] as const).some((kind) => problemAffectsResolutionKind(problem, kind, analysis)),
    )
    .map((problem) => JSON.stringify(problem))
}

/** Checks a package as npm shows it: all links must work, and all imports must exist. */
function checkContents({ name, filename, files }: Tarball, published: ReadonlySet<string>): string[] {
  const contentOf = (path: string) => capture('tar', ['-xOf', filename, `package/${path}`])
  const manifest = JSON.parse(contentOf('package.json')) as Manifest
  const readme = contentOf('README.md')
  const { links } = extractPaths(readme)
  const imports = [...readme.matchAll(/from '(@ws\/[a-z0-9-]+)/gu)].map(([, imported = '']) => imported)
  return [
    ...('devDependencies' in manifest ? [`${name}: package.json has devDependencies, which users cannot install`] : []),
    ...['description', 'keywords']
      .filter((field) => !(field in manifest))
      .map((field) => `${name}: package.json has no ${field}`),
    ...(manifest.files?.includes('CHANGELOG.md') ? [] : [`${name}: \`files\` in package.json lacks CHANGELOG.md`]),
    ...checkInternal(name, manifest, readme),
    ...links
      .filter((link) => !files.some(({ path }) => path === normalize(link)))
      .map((link) => `${name}: README.md links to ${link}, which is not in the package`),
    ...new Set(imports.filter((imported) => !published.has(imported)))
      .values()
      .map((imported) => `${name}: README.md imports ${imported}, which is not published`),
  ]
}

/** Checks that an internal package says in three places that it is internal, since a reader may see only one. */
function checkInternal(name: string, { description = '', keywords = [] }: Manifest, readme: string): string[] {
  const marks = {
    'the keyword `internal`': keywords.includes('internal'),
    'a description that begins with `Internal part of @ws: `': description.startsWith('Internal part of @ws: '),
    'a README.md that begins with `**Internal**: `': readme.startsWith(`# ${name}\n\n**Internal**: published since`),
  }
  const missing = Object.entries(marks).filter(([, there]) => !there)
  if (missing.length === Object.keys(marks).length) return []
  return missing.map(([mark]) => `${name}: an internal package needs ${mark}`)
}

function checkIsolation(tarballs: readonly Tarball[], project: string): string[] {
  const names = ['@ws/core', '@ws/adapter-memory']
  installInto(project, names, tarballs)

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
