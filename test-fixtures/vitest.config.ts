import { configWithS3 } from './src/vitest/config.ts'

export default configWithS3
