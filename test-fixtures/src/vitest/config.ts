import { globSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config'

import { deep } from '../tier.ts'
import { ComponentReporter } from './reporter.ts'
import { LargestPackagesFirst } from './sequencer.ts'

// most of the time of a short program of Node is compiling its sources; workers and what they start inherit it
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url))

// The option exists, but its type is that of the command line only.
const tier = { tagsFilter: [deep ? 'deep || rounds' : '!deep'] }

/** The configuration that every package's `vitest.config.ts` exports. */
export const sharedConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // the first one ends last
    setupFiles: ['measure.ts', 'own-temporary-directory.ts'].map((file) =>
      fileURLToPath(new URL(file, import.meta.url)),
    ),
    passWithNoTests: true,
    allowOnly: false,
    pool: 'forks',
    // Node runs the sources as they are: transforming them took a quarter of the processor time
    experimental: { viteModuleRunner: false },
    // the sources of the other packages, never a build that may be stale
    execArgv: ['--conditions=@ws/source'],
    // A worker loads the imports of its files once. Packages whose tests change modules, or count what this process
    // holds, give each file a worker of its own.
    isolate: false,
    // Tests wait for processes too: two workers would leave a core idle on a machine of two. Two thirds of the deep
    // tier's time are waiting.
    maxWorkers: deep ? 8 : 4,
    // commands in sandboxes on a loaded two-core machine
    testTimeout: deep ? 600_000 : 60_000,
    tags: [
      { name: 'deep', description: 'runs in the deep tier alone' },
      { name: 'rounds', description: 'runs a few rounds in `npm test`, and for some seconds in the deep tier' },
    ],
    ...tier,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    teardownTimeout: 10_000,
    reporters: ['default', new ComponentReporter()],
  },
})

/** The same for packages whose tests talk to S3 servers: see `sharedS3Server` in `@ws/test-fixtures/s3/vitest`. */
export const configWithS3 = mergeConfig(
  sharedConfig,
  defineConfig({ test: { globalSetup: [fileURLToPath(new URL('../s3/shared/global-setup.ts', import.meta.url))] } }),
)

/**
 * All packages in one run. They share the main process, the S3 servers and the workers, which load a module once for the
 * tests of all of them. A package whose configuration differs has workers of its own.
 */
export async function rootConfig(): Promise<ViteUserConfig> {
  const files = globSync(['{packages,apps}/*/vitest.config.ts', 'test-fixtures/vitest.config.ts'])
  const ownWorkers: string[] = []
  for (const file of files) {
    const { default: own } = (await import(resolve(file))) as { default: ViteUserConfig }
    if (own !== sharedConfig && own !== configWithS3) ownWorkers.push(file)
  }
  const others = files.filter((file) => !ownWorkers.includes(file)).map((file) => `${dirname(file)}/test/**/*.test.ts`)
  const shared = {
    extends: false,
    ...mergeConfig(configWithS3, defineConfig({ test: { name: 'shared', include: others } })),
  }
  return mergeConfig(
    sharedConfig,
    defineConfig({ test: { projects: [shared, ...ownWorkers], sequence: { sequencer: LargestPackagesFirst } } }),
  )
}
