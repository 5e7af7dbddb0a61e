import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// The helpers of the tests keep one executor for each file, and close it with the file.
export default mergeConfig(sharedConfig, { test: { isolate: true } })
