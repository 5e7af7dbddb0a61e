import { fileURLToPath } from 'node:url'

import { defineConfig, mergeConfig } from 'vitest/config'

import { ComponentReporter } from './reporter.ts'

// Tests run on the sources of the other packages, never on a build that may be stale. Without `module`: what some
// packages publish under it is not for Node.
const conditions = ['@ws/source', 'node', 'development|production']

/** The configuration that every package's `vitest.config.ts` exports. */
export const sharedConfig = defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: [fileURLToPath(new URL('own-temporary-directory.ts', import.meta.url))],
    passWithNoTests: true,
    allowOnly: false,
    pool: 'forks',
    // Tests wait for processes more than they compute: one worker would leave a core idle on a machine of two.
    maxWorkers: 2,
    // commands in sandboxes on a loaded two-core machine
    testTimeout: process.env['WS_DEEP'] === '1' ? 600_000 : 60_000,
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
