import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// A test replaces modules.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
