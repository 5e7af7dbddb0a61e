import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// Its files share no state: what they import is loaded once for each worker.
export default mergeConfig(sharedConfig, { test: { isolate: false } })
