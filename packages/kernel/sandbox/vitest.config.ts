import { ownWorkersConfig } from '@ws/test-fixtures/vitest'

// Tests count the descriptors and processes of their own process.
export default ownWorkersConfig
