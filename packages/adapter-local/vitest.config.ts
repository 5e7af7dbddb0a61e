import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// A test replaces modules of the adapter.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
