import { ownWorkersConfig } from '@ws/test-fixtures/vitest'

// Tests count the resources of their process.
export default ownWorkersConfig
