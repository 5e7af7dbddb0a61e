import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// its tests count and replace calls of `node:fs`, which the other files would see
export default mergeConfig(sharedConfig, { test: { isolate: true } })
