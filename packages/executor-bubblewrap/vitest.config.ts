import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// One test replaces a module.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
