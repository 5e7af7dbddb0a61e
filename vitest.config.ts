import { rootConfig } from '@ws/test-fixtures/vitest'

export default rootConfig()
