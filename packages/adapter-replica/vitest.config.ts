import { configWithS3 } from '@ws/test-fixtures/vitest'

export default configWithS3
