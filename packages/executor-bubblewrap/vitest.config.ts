import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// Tests replace modules, and set the state directory of the whole process.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
