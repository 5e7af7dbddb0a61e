import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// Tests count the descriptors and threads of this process.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
