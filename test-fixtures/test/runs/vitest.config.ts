import { mergeConfig } from 'vitest/config'

import { sharedConfig } from '../../src/vitest/config.ts'

// a run of its own inside a test: see ../reporter.test.ts
export default mergeConfig(sharedConfig, { test: { include: ['*.sample.ts'] } })
