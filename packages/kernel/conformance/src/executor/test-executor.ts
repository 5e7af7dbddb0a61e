import { checkSuite } from '../options/check.ts'
import type { Runner } from '../runner.ts'
import type { WorkspaceSuiteOptions } from '../options/workspace.ts'
import { defineDoors } from '../doors/suite.ts'
import { boundaryTests } from './boundaries.ts'
import { endTests } from './ends.ts'
import { inputTests } from './input.ts'
import { lifecycleTests } from './lifecycle.ts'
import { outputTests } from './output.ts'
import { probeTests } from './probe.ts'
import { resultTests } from './results.ts'
import { ruleTests } from './rules.ts'
import { settingTests } from './setting.ts'
import { writtenInputTests } from './written-input.ts'

const files = [
  probeTests,
  resultTests,
  outputTests,
  inputTests,
  writtenInputTests,
  endTests,
  settingTests,
  boundaryTests,
  ruleTests,
  lifecycleTests,
]

/** Tests the contract of `Executor` at its declared levels. If a needed guarantee is `none`, the tests expect a refusal. */
export function testExecutor(options: WorkspaceSuiteOptions, runner: Runner): void {
  checkSuite('testExecutor', 'workspace', options)
  defineDoors('the executor contract', options, runner, files)
}
