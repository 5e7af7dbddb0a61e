import { mergeConfig } from 'vitest/config'

import { baseConfig } from '../../src/vitest/config.ts'

// a run of its own inside a test: see ../reporter.test.ts
export default mergeConfig(baseConfig, { test: { include: ['*.sample.ts'] } })
