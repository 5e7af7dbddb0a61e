import { sharedConfig } from '@ws/test-fixtures/vitest'
import { mergeConfig } from 'vitest/config'

// Tests count what their process holds: its workers serve no other package.
export default mergeConfig(sharedConfig, {})
