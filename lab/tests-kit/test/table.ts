import {
  collectTests,
  faults,
  testAdapter,
  testExecutor,
  testWorkspace,
  type WorkspaceSuiteOptions,
} from '@ws/conformance'
import { ownFaults } from './own-faults.ts'

interface Broken {
  readonly name: string
  readonly caughtBy: string
}

const never = (): never => {
  throw new Error('titles only: nothing is run')
}

/** The titles of a suite without the suite's own, each once. */
function promisesOf(define: (runner: Parameters<typeof testAdapter>[1]) => void): string[] {
  const titles = collectTests(define).map(({ title }) => title.split(' › ').slice(1).join(' › '))
  return [...new Set(titles)]
}

const escape = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

function section(title: string, broken: readonly Broken[], promises: readonly string[]): string {
  const caught = (promise: string): string[] =>
    broken.filter(({ caughtBy }) => promise.includes(caughtBy)).map(({ name }) => name)
  const rows = promises.map((promise) => `| ${escape(promise)} | ${escape(caught(promise).join('; ')) || '–'} |`)
  const shown = promises.filter((promise) => caught(promise).length > 0).length
  return [
    `## ${title}`,
    '',
    `${promises.length} promises; ${broken.length} broken implementations, which break ${shown} of them.`,
    '',
    '| promise | broken on purpose by one that … |',
    '| --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

/** The tables that the site shows below docs/conformance.md. */
export function conformanceTable(): string {
  const doors: WorkspaceSuiteOptions = { name: 'x', create: never, roots: ['/'] }
  const elsewhere: WorkspaceSuiteOptions = { name: 'x', create: never, roots: ['/workspace'] }
  const adapters = promisesOf((runner) => testAdapter({ name: 'x', create: never }, runner))
  const executors = promisesOf((runner) => testExecutor(doors, runner))
  const both = promisesOf((runner) => {
    testWorkspace(doors, runner)
    testWorkspace(elsewhere, runner)
  })
  const brokenExecutors = [...faults.executors, ...ownFaults]
  return [
    section('Adapters: `testAdapter`', faults.adapters, adapters),
    section(
      'Executors: `testExecutor`',
      brokenExecutors.filter(({ caughtBy }) => executors.some((title) => title.includes(caughtBy))),
      executors,
    ),
    section(
      'Workspaces, the two doors and attacks on the policy: `testWorkspace`',
      [...brokenExecutors, ...faults.workspaces].filter(({ caughtBy }) =>
        both.some((title) => title.includes(caughtBy)),
      ),
      both,
    ),
  ].join('\n')
}
