import type { TestOutcome } from '@ws/conformance'
import { isWorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

import { createExecutor, type ExecutorName } from '../config/executors.ts'
import { loadOptional } from '../optional/load.ts'
import { openFixtures, type FixturesOptions } from './fixtures.ts'
import type { CheckResult, MountPoint, Report, Status, Unavailable } from './types.ts'

export interface RunOptions extends Pick<FixturesOptions, 'createStore'> {
  readonly executors: readonly ExecutorName[]
  /** An interpreter, which is always available. Checked if no executor of `executors` is available. */
  readonly fallback?: ExecutorName | undefined
  readonly at: readonly MountPoint[]
  readonly owner: Owner
  readonly signal: AbortSignal
  readonly onResult: () => void
}

/** Limit of pairs of executor and place that are checked at once. */
const concurrency = 2

/** Runs the suites for each executor and place on scratch files, which are always removed. */
export async function runChecks(options: RunOptions): Promise<Report> {
  const results: CheckResult[] = []
  const unavailable: Unavailable[] = []
  const roots: Report['roots'][number][] = []
  const placesOf = async (name: ExecutorName) => {
    // The suites attack with programs, and `sanitize` runs only trusted programs.
    const executor = await createExecutor(name, { sanitize: { trustPrograms: 'all' } })
    return options.at.map((at) => ({ name, executor, at }))
  }
  let places = (await Promise.all(options.executors.map(placesOf))).flat()
  const work = async (): Promise<void> => {
    for (let place = places.shift(); place !== undefined; place = places.shift()) {
      const { name, executor, at } = place
      options.signal.throwIfAborted()
      const probe = await executor.probe({ root: rootOf(at), owner: options.owner, signal: options.signal })
      const form = probe.details['root']
      if (form !== undefined) roots.push({ executor: name, at, form })
      if (probe.available)
        await checkPlace(options, place, (result) => {
          results.push(result)
          options.onResult()
        })
      else unavailable.push({ executor: name, at, missing: probe.missing, howToFix: probe.howToFix })
    }
  }
  // after a failure, parallel runs must still remove their scratch files
  const workAll = async (): Promise<void> => {
    const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, work))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
  await workAll()
  if (results.length === 0 && options.fallback !== undefined) {
    places = await placesOf(options.fallback)
    await workAll()
  }
  return { results, unavailable, roots }
}

type Root = NonNullable<Parameters<Executor['probe']>[0]>['root']

const rootOf = (at: MountPoint): Root => at as string as Root

async function checkPlace(
  { owner, signal, createStore }: RunOptions,
  { name, executor, at }: { readonly name: ExecutorName; readonly executor: Executor; readonly at: MountPoint },
  add: (result: CheckResult) => void,
): Promise<void> {
  const { collectTests, testExecutor, testWorkspace, storesBeside } = await loadOptional('@ws/conformance')
  await using fixtures = await openFixtures({ storesBeside, executor, at, owner, createStore, signal })
  const tests = collectTests((runner) => {
    for (const suite of [testWorkspace, testExecutor])
      suite({ name, create: fixtures.createFixture, roots: [at], shell: 'sh' }, runner)
  })
  for (const test of tests) {
    const start = performance.now()
    const outcome = await test.run()
    signal.throwIfAborted()
    const duration = Math.round(performance.now() - start)
    const [, group = '', ...titles] = test.title.replaceAll(/\[[^\]]*\] /gu, '').split(' › ')
    const check = { group, title: titles.join(' › ') }
    const judged = judge(outcome, departures[name]?.[check.title])
    if (judged === undefined) continue
    const result = { check, executor: name, at, store: fixtures.store, ...judged, duration }
    add(result)
  }
}

/** Titles of tests that an executor is known not to pass, with the reasons. */
const departures: Partial<Record<ExecutorName, Readonly<Record<string, string>>>> = {
  sanitize: {
    'a command longer than an argument can be runs all the same': 'the command is an argument of the shell',
    'a login shell reads its start-up file, another does not': 'there are no start-up files',
  },
}

/** Reasons of tests that do not apply: they need another root, or features that the executor or the fixture does not have. */
const inapplicable = /^the root is at|^guarantee \w+: (?:kernel|interpreter)$|^every guarantee|^the fixture has no/u

/** The status of a test; `undefined` if the test does not apply. */
function judge(
  { state, reason = '', error }: TestOutcome,
  departure: string | undefined,
): { status: Status; note?: string } | undefined {
  if (state === 'passed') return { status: 'ok' }
  if (state === 'skipped') {
    if (inapplicable.test(reason)) return undefined
    if (reason === 'executor kind interpreter') {
      return { status: 'skipped', note: 'needs processes, which an interpreter does not have' }
    }
    const level = /^guarantee \w+: (none|translated)$/u.exec(reason)?.[1]
    return { status: level === undefined ? 'skipped' : level === 'none' ? 'refused' : 'view', note: reason }
  }
  if (departure !== undefined) return { status: 'refused', note: departure }
  // No rule caused the refusal: the executor cannot prove that the command stays inside the workspace.
  if (isWorkspaceError(error, 'EUNENFORCEABLE') && error.rule === undefined) {
    return { status: 'refused', note: error.message }
  }
  if (!(error instanceof Error)) return { status: 'failed', note: String(error) }
  const named = isWorkspaceError(error) || error.name === 'ConformanceError'
  return { status: 'failed', note: named ? error.message : `${error.name}: ${error.message}` }
}
