import { ownWorkersConfig } from '@ws/test-fixtures/vitest'

// Examples set variables and the directory of the process.
export default ownWorkersConfig
