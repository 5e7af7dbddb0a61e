import { ownWorkersConfig } from '@ws/test-fixtures/vitest'

// Tests count what their process holds.
export default ownWorkersConfig
