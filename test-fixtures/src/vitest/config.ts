import { globSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { defineConfig, mergeConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config'

import { deep, mayHold, tagsFilter, tier } from '../tier.ts'
import { packageFolders } from './report.ts'
import { ComponentReporter } from './reporter.ts'
import { LargestPackagesFirst } from './sequencer.ts'

// short programs spend most of their time compiling; workers and their children inherit this cache
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url))

// shells word errors differently, and warn about a missing locale
process.env['SHELL'] = '/bin/bash'
for (const name of Object.keys(process.env)) if (name.startsWith('LC_')) delete process.env[name]

// The option works, but its type exists only for the command line.
const filter = { tagsFilter: [tagsFilter] }

export const baseConfig = defineConfig({
  test: {
    // the hooks of the first file run last
    setupFiles: ['measure.ts', 'own-temporary-directory.ts'].map((file) =>
      fileURLToPath(new URL(file, import.meta.url)),
    ),
    passWithNoTests: true,
    allowOnly: false,
    pool: 'forks',
    // Node runs the sources directly: transforming them took a quarter of the processor time
    experimental: { viteModuleRunner: false },
    // other packages are loaded from their sources, never from a stale build
    execArgv: ['--conditions=@ws/source'],
    // a worker loads the imports of its files once
    isolate: false,
    // Tests also wait for processes: two workers leave a core idle. A fifth worker costs 8 % more processor time. Deep tests wait longer.
    maxWorkers: deep ? 6 : 4,
    // commands in sandboxes are slow on a loaded two-core machine
    testTimeout: deep ? 600_000 : 60_000,
    tags: [
      { name: 'all', description: 'runs in `npm run test:all`' },
      { name: 'deep', description: 'runs in `npm run test:deep`' },
      { name: 'rounds', description: 'runs a few rounds in its tier, and for some seconds in the deep tier' },
    ],
    ...filter,
    // one S3 server of each kind, started on first use
    globalSetup: [fileURLToPath(new URL('../s3/shared/global-setup.ts', import.meta.url))],
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    teardownTimeout: 10_000,
    // a run of all packages ends with a line for each
    reporters: [
      process.env['WS_COMPONENTS'] === undefined ? 'default' : ['minimal', { silent: false }],
      new ComponentReporter(),
    ],
  },
})

/** The configuration for a package's `vitest.config.ts`. In a run of all packages, workers are shared. */
export const sharedConfig = mergeConfig(baseConfig, { test: { projects: projects('shared', '.') } })

/** The configuration for packages whose tests count resources of their process, or set its variables: each has its own workers. */
export const ownWorkersConfig = mergeConfig(baseConfig, { test: { projects: projects('own', '.') } })

/** Tests of this tier in these folders. An `isolated` file replaces modules, and gets its own worker. */
function projects(name: string, ...folders: readonly string[]): TestProjectInlineConfiguration[] {
  const files = (ending: string): string[] => folders.map((folder) => `${folder}/test/**/*${ending}`)
  const [include, isolated] = [files('.test.ts'), files('.isolated.test.ts')]
  const others = globSync(include).filter((file) => !mayHold(tier, readFileSync(file, 'utf8')))
  return [
    { extends: true, test: { name, include, exclude: [...isolated, ...others] } },
    { extends: true, test: { name: `${name}, isolated`, include: isolated, exclude: others, isolate: true } },
  ]
}

/** All packages in one run, sharing the main process, S3 servers and most workers. */
export async function rootConfig(): Promise<ViteUserConfig> {
  const [shared, own]: [string[], string[]] = [[], []]
  for (const file of globSync([`${packageFolders}/vitest.config.ts`, 'test-fixtures/vitest.config.ts'])) {
    const { default: config } = (await import(resolve(file))) as { default: ViteUserConfig }
    const list = config === ownWorkersConfig ? own : shared
    list.push(dirname(file))
  }
  const all = [...projects('shared', ...shared), ...own.flatMap((folder) => projects(folder, folder))]
  return mergeConfig(
    baseConfig,
    defineConfig({ test: { projects: all, sequence: { sequencer: LargestPackagesFirst } } }),
  )
}
