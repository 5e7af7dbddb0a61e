import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// A test measures the memory of this process.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
