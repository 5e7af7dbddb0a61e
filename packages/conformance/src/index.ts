export type { AdapterFixture, AdapterSuiteOptions } from './adapter/options.ts'
export { testAdapter } from './adapter/test-adapter.ts'
export { ConformanceError } from './assert.ts'
export { collectTests, type CollectedTest, type Runner, type TestContext, type TestOutcome } from './runner.ts'
