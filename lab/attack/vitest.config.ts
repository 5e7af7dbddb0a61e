import { ownWorkersConfig } from '@ws/test-fixtures/vitest'

export default ownWorkersConfig
