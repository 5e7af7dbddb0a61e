import { configWithS3 } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// Examples set variables and the directory of the process.
export default mergeConfig(configWithS3, { test: { isolate: true } })
