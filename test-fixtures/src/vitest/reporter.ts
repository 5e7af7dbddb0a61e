import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node'

import { runsIn, tier } from '../tier.ts'
import {
  formatMissing,
  kitContracts,
  packageOf,
  reportPath,
  requireAll,
  type FileReport,
  type MissingComponent,
  type TestFailure,
  type TestReport,
} from './report.ts'

import type {} from './measure.ts'

/** The note of `describeWith` and `itWith` in titles of skipped tests. */
const note = /⟨needs ([^:⟩]+): (.*?)⟩/su

/** Counts tests and costs, and reports skips for missing components. */
export class ComponentReporter implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    // after a crash, no earlier report must remain
    for (const folder of new Set(specifications.map(({ moduleId }) => packageOf(moduleId))))
      rmSync(join(folder, reportPath), { force: true })
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const packages = [...Map.groupBy(modules, ({ moduleId }) => packageOf(moduleId))]
    // errors outside of all tests are reported for the first package
    for (const [index, [folder, own]] of packages.entries()) writeReport(folder, own, index === 0 ? errors : [])
    const missing = countMissing(modules.flatMap((module) => [...module.children.allTests()].filter(isOfTier)))
    if (missing.length === 0) return
    console.error(formatMissing(missing))
    if (requireAll()) process.exitCode = 1
  }
}

function writeReport(folder: string, modules: readonly TestModule[], errors: readonly SerializedError[]): void {
  const tests = modules.flatMap((module) => [...module.children.allTests()].filter(isOfTier))
  const count = (state: string) => tests.filter((test) => test.result().state === state).length
  const report: TestReport = {
    passed: count('passed'),
    failures: listFailures(modules, errors),
    skipped: count('skipped'),
    missing: countMissing(tests),
    files: modules.map(costOf),
    promises: countPromises(tests),
  }
  const file = join(folder, reportPath)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`)
}

const isOfTier = ({ tags }: TestCase): boolean => runsIn(tier, tags)

const suiteOfKit = new RegExp(`(?:^| > )((?:${kitContracts.join('|')}): .+?)(?: > |$)`, 'u')

function countPromises(tests: readonly TestCase[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const test of tests) {
    const [, suite] = suiteOfKit.exec(test.fullName) ?? []
    if (suite !== undefined && test.result().state === 'passed') counts[suite] = (counts[suite] ?? 0) + 1
  }
  return counts
}

const nameOf = ({ moduleId }: TestModule): string => relative(packageOf(moduleId), moduleId)

function costOf(module: TestModule): FileReport {
  const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
  const none = { processor: 0, programsProcessor: 0, programs: 0, sandboxes: 0, servers: 0 }
  return {
    file: nameOf(module),
    tests: [...module.children.allTests()].filter(isOfTier).length,
    duration: (prepareDuration + setupDuration + collectDuration + duration) / 1000,
    // a crashed file has no cost
    ...(module.meta().cost ?? none),
  }
}

/** Failed tests, and failures outside of tests: unloadable files, hooks, late errors. */
function listFailures(modules: readonly TestModule[], errors: readonly SerializedError[]): TestFailure[] {
  const nodes = modules.flatMap((module) => [module, ...module.children.allSuites(), ...module.children.allTests()])
  const failed = nodes.flatMap((node): TestFailure[] => {
    const errorsOfNode = (node.type === 'test' ? node.result().errors : node.errors()) ?? []
    const [error] = errorsOfNode
    if (node.type === 'test' ? node.result().state !== 'failed' : error === undefined) return []
    const diff = typeof error?.diff === 'string' ? `\n${error.diff}` : ''
    const message = `${error?.message ?? 'no message'}${diff}`
    return [{ test: titleOf(node), message: stripVTControlCharacters(message) }]
  })
  return [...failed, ...errors.map(({ message }) => ({ test: 'an error outside of all tests', message }))]
}

function titleOf(node: TestModule | TestSuite | TestCase): string {
  if (node.type === 'module') return nameOf(node)
  return `${nameOf(node.module)} > ${node.fullName}`
}

function countMissing(tests: readonly TestCase[]): MissingComponent[] {
  const byComponent = new Map<string, MissingComponent>()
  for (const test of tests) {
    const result = test.result()
    if (result.state !== 'skipped') continue
    const [, component, reason] = note.exec(`${test.fullName} ${result.note ?? ''}`) ?? []
    if (component === undefined || reason === undefined) continue
    const count = (byComponent.get(component)?.tests ?? 0) + 1
    byComponent.set(component, { component, reason, tests: count })
  }
  return [...byComponent.values()]
}
