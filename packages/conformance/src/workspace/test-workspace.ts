import { checkSuite } from '../check-options.ts'
import type { Runner } from '../runner.ts'
import { securityFiles } from '../security/security-suite.ts'
import { auditTests } from './audit.ts'
import { editingTests } from './editing.ts'
import { endTests } from './ends.ts'
import { followingTests } from './following.ts'
import { globTests } from './globs.ts'
import { nameTests } from './names.ts'
import type { WorkspaceSuiteOptions } from '../doors/options.ts'
import { pathTests } from './paths.ts'
import { programTests } from './programs.ts'
import { readingTests } from './reading.ts'
import { sameFilesTests } from './same-files.ts'
import { defineDoors } from '../doors/suite.ts'

const files = [
  sameFilesTests,
  pathTests,
  nameTests,
  readingTests,
  endTests,
  followingTests,
  globTests,
  editingTests,
  programTests,
  auditTests,
  ...securityFiles,
]

/**
 * Defines the tests of a workspace's two doors, at each place of the root. The file API and commands see the same files
 * at the same paths. One policy holds at both, under attack too.
 */
export function testWorkspace(options: WorkspaceSuiteOptions, runner: Runner): void {
  checkSuite('testWorkspace', 'workspace', options)
  defineDoors('the two doors', options, runner, files)
}
