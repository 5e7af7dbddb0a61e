// Performs a whole release without the upload. Names restrict the tested packages, and `--node` the versions.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { createScratchDirectory, installNodes } from '@ws/test-fixtures'
import { bundleForBrowser, runInPage, runInWorker, runInWorkerd } from '@ws/test-fixtures/bundle'

import { findBrowser, runInBrowser } from './lib/browser.ts'
import { tryChangelogs } from './lib/changelogs.ts'
import { installInto, manifestOf, pack } from './lib/packed.ts'
import { capture, repositoryRoot } from './lib/run.ts'
import { writeSbom } from './lib/sbom.ts'
import { smokeTest } from './lib/smoke.ts'
import { checkTarballs } from './lib/tarball-checks.ts'

const { values, positionals: chosen } = parseArgs({
  options: { node: { type: 'string', multiple: true, default: ['22.18', process.versions.node, '26'] } },
  allowPositionals: true,
})
const release = join(repositoryRoot, 'release')
const problems: string[] = []

await using scratch = await createScratchDirectory({ prefix: 'ws-release-' })
rmSync(release, { recursive: true, force: true })
const tarballs = pack(release)
problems.push(...(await checkTarballs(tarballs, scratch.path)))
say('checked', `${tarballs.length} tarballs in ${release}`)

const changelogs = tryChangelogs(join(scratch.path, 'clone'))
problems.push(...changelogs.problems)
say('changelogs', `${changelogs.version} comes next`)

const { version } = manifestOf('packages/kernel/core')
const sbom = writeSbom(version, tarballs, join(scratch.path, 'sbom'), join(release, 'sbom.cdx.json'))
problems.push(...sbom.problems)
say('sbom', `${sbom.components} components, CycloneDX, in ${join(release, 'sbom.cdx.json')}`)

problems.push(...(await tryInBrowser()))

const nodes = await installNodes(values.node, scratch.path)
const user = process.getuid?.() === 0 ? scratch.owner : undefined
console.log(`\n${row('package', 'packed', 'others', 'installed')}  seen on Node ${[...nodes.keys()].join(', ')}`)
for (const tarball of tarballs.toSorted((a, b) => a.name.localeCompare(b.name))) {
  if (chosen.length > 0 && !chosen.includes(tarball.name)) continue
  const project = join(scratch.path, 'projects', tarball.name.replace('/', '-'))
  const smoked = await smokeTest(tarball, { tarballs, nodes, project, user })
  problems.push(...smoked.problems)
  const megabytes = `${smoked.megabytes.toFixed(1)} MB`
  const sizes = row(tarball.name, `${Math.ceil(smoked.packed / 1000)} kB`, String(smoked.others), megabytes)
  console.log(`${sizes}  ${smoked.seen.join('; ')}${smoked.problems.length === 0 ? '' : '  FAILED'}`)
  rmSync(project, { recursive: true, force: true })
}

for (const problem of problems) console.error(problem)
console.log(`\nrelease:dry: ${problems.length} problems; nothing was published`)
process.exitCode = problems.length === 0 ? 0 : 1

/** Bundles the packed core and memory adapter, and checks that a browser gets the same results as Node. */
async function tryInBrowser(): Promise<string[]> {
  const project = join(scratch.path, 'browser')
  installInto(project, ['@ws/core', '@ws/adapter-memory'], tarballs)
  const entry = join(project, 'entry.ts')
  cpSync(join(repositoryRoot, 'packages/adapters/memory/test/bundle/entry.ts'), entry)
  const code = `const { run } = await import('./entry.ts'); process.stdout.write(await run())`
  const expected = capture(process.execPath, ['--input-type=module', '--eval', code], { cwd: project })
  const bundle = await bundleForBrowser(entry)
  writeFileSync(join(release, 'browser-bundle.js'), bundle.code)

  const browser = findBrowser()
  const found: Record<string, unknown> = {
    'a page': (await runInPage(bundle)).found,
    'a thread without the globals of Node': (await runInWorker(bundle)).found,
    'the runtime of workers of Cloudflare': (await runInWorkerd(bundle)).found,
  }
  if (browser !== undefined) {
    const profile = join(scratch.path, 'profile')
    mkdirSync(profile)
    const { page, worker, error } = await runInBrowser(browser, bundle.code, profile)
    Object.assign(found, { [`a page of ${browser}`]: page ?? error, [`a worker of ${browser}`]: worker ?? error })
  }
  const size = `${Math.ceil(bundle.code.length / 1000)} kB`
  say('browser', `the core and the memory adapter (${size}) in ${Object.keys(found).join(', ')}`)
  const missing = "browser: there is none; install one, such as Debian's package chromium"
  if (browser === undefined) {
    if (process.env['WS_REQUIRE_ALL'] === '1') problems.push(missing)
    else console.log(missing)
  }
  return Object.entries(found)
    .filter(([, answer]) => answer !== expected)
    .map(([where, answer]) => `browser: ${where} found ${String(answer)}, and Node ${expected}`)
}

function row(name: string, ...sizes: readonly string[]): string {
  return `${name.padEnd(28)}${sizes.map((size) => size.padStart(10)).join('')}`
}

function say(step: string, text: string): void {
  console.log(`${step.padEnd(12)}${text}`)
}
