import { sharedConfig } from '@ws/test-fixtures/vitest'

export default sharedConfig
