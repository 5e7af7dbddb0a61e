import { configWithS3 } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// The helpers of the tests keep one engine for each file, and close it with the file.
export default mergeConfig(configWithS3, { test: { isolate: true } })
