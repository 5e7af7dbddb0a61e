import { checkSuite } from '../options/check.ts'
import type { Runner } from '../runner.ts'
import type { WorkspaceSuiteOptions } from '../options/workspace.ts'
import { defineDoors, type DoorSuite } from '../doors/suite.ts'
import { deniedTests } from './denied.ts'
import { exchangeTests } from './exchange.ts'
import { outputTests } from './output.ts'

export const securityFiles: readonly ((suite: DoorSuite) => void)[] = [outputTests, deniedTests, exchangeTests]

/** Tests only attacks on the policy, by the file API and by commands. For products that change no other part. */
export function securitySuite(options: WorkspaceSuiteOptions, runner: Runner): void {
  checkSuite('securitySuite', 'workspace', options)
  defineDoors('one policy at both doors', options, runner, securityFiles)
}
