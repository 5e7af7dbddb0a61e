// Bundles just-bash into `dist/just-bash` without unused parts. just-bash installs 75 MB of databases, interpreters and compression.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { rolldown } from 'rolldown'

const out = join(import.meta.dirname, 'dist/just-bash')
/** Packages left out of the bundle. Commands that need such a package are refused, always or until the user installs it. */
const leftOut = ['sql.js', 'quickjs-emscripten', '@mongodb-js/zstd', 'node-liblzma']

const scratch = mkdtempSync(join(import.meta.dirname, '.bundle-'))
try {
  const input = join(scratch, 'index.js')
  writeFileSync(input, "export { Bash, defineCommand, getCommandNames, InMemoryFs, parse } from 'just-bash'\n")
  const external = [/^node:/u, ...leftOut]
  const treeshake = { moduleSideEffects: 'no-external' } as const
  const build = await rolldown({ input, platform: 'node', external, treeshake })
  // each thread reads it at its start; its names are short already
  const { output } = await build.write({ dir: out, format: 'esm', cleanDir: true, minify: true })
  await build.close()
  // `sqlite3` starts this thread, which the bundler cannot find
  const justBash = dirname(fileURLToPath(import.meta.resolve('just-bash')))
  copyFileSync(join(justBash, 'chunks/sqlite3-worker.js'), join(out, 'sqlite3-worker.js'))
  const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []))
  writeFileSync(join(out, 'LICENSES.txt'), licensesOf(modules.filter((id) => !id.startsWith(scratch))))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function licensesOf(modules: readonly string[]): string {
  const folders = new Set(modules.filter((id) => id.startsWith('/')).map(packageFolderOf))
  // just-bash's published bundle contains parts of its dependencies
  const justBash = [...folders].find((folder) => manifestOf(folder).name === 'just-bash') ?? ''
  for (const name of Object.keys(manifestOf(justBash).dependencies ?? {})) {
    if (!leftOut.includes(name)) folders.add(realpathSync(join(justBash, '..', name)))
  }
  return [...folders]
    .toSorted()
    .map((folder) => {
      const { name, version, license } = manifestOf(folder)
      const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license'].find((one) => existsSync(join(folder, one)))
      const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8')
      return `${name} ${version} (${license})\n\n${text}`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The nearest folder above a module whose `package.json` has a name and a version. */
function packageFolderOf(module: string): string {
  for (let folder = dirname(module); folder !== '/'; folder = dirname(folder)) {
    if (!existsSync(join(folder, 'package.json'))) continue
    const { name, version } = manifestOf(folder)
    if (name !== undefined && version !== undefined) return folder
  }
  throw new Error(`no package holds ${module}`)
}
