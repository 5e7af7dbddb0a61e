import { ownWorkersConfig } from '@ws/test-fixtures/vitest'

// Tests set the state directory of the whole process.
export default ownWorkersConfig
