import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// One test replaces a function of `node:fs`.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
