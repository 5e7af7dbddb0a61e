import { checkSuite } from '../options/check.ts'
import type { Runner } from '../runner.ts'
import { abortTests } from './abort.ts'
import { appendTests } from './append.ts'
import { concurrencyTests } from './concurrency.ts'
import { conditionTests } from './conditions.ts'
import { copyTests } from './copy.ts'
import { createDirectoryTests } from './create-directory.ts'
import { deleteTests } from './delete.ts'
import { errorTests } from './errors.ts'
import { forkTests } from './forks.ts'
import { hostTests } from './host.ts'
import { lifecycleTests } from './lifecycle.ts'
import { linkTests } from './links.ts'
import { listTests } from './list.ts'
import { moveTests } from './move.ts'
import { nameTests } from './names.ts'
import type { AdapterSuiteOptions } from '../options/adapter.ts'
import { presenceTests } from './presence.ts'
import { readStreamTests } from './read-stream.ts'
import { readTests } from './read.ts'
import { searchTests } from './search.ts'
import { specialFileTests } from './special-files.ts'
import { statTests } from './stat.ts'
import { createSuite } from './suite.ts'
import { attributeTests } from './attributes.ts'
import { symlinkTests } from './symlinks.ts'
import { watchTests } from './watch.ts'
import { writeTests } from './write.ts'

const files = [
  presenceTests,
  statTests,
  readTests,
  readStreamTests,
  writeTests,
  listTests,
  createDirectoryTests,
  deleteTests,
  moveTests,
  copyTests,
  appendTests,
  symlinkTests,
  attributeTests,
  linkTests,
  searchTests,
  conditionTests,
  errorTests,
  abortTests,
  nameTests,
  specialFileTests,
  hostTests,
  watchTests,
  concurrencyTests,
  lifecycleTests,
  forkTests,
]

/** Tests the contract of `StorageAdapter`, as far as the adapter's capabilities apply. Each skipped test names the missing capability. */
export function testAdapter(options: AdapterSuiteOptions, runner: Runner): void {
  checkSuite('testAdapter', 'adapter', options)
  const suite = createSuite(options, runner)
  suite.describe(`the storage contract: ${options.name}`, () => {
    for (const define of files) define(suite)
  })
}
