import { sharedConfig } from './src/vitest/config.ts'

export default sharedConfig
