import { paths } from '@ws/core'
import { type Guarantees, satisfies } from '@ws/core/executor'
import { ConformanceError, equal, fail } from '../assert.ts'
import type { Runner } from '../runner.ts'
import type { WorkspaceFixture, WorkspaceSuiteOptions } from '../options/workspace.ts'
import { Site, type SiteOptions } from './site.ts'

export interface DoorNeeds {
  readonly kind?: 'process' | undefined
  /** Guarantees that the test needs at any level, even `translated`, since the test's programs do not attack the translation. */
  readonly holds?: readonly (keyof Guarantees)[] | undefined
  /** Guarantees that the test needs against hostile programs: at level `kernel` or `interpreter`. */
  readonly withstands?: readonly (keyof Guarantees)[] | undefined
  readonly lacks?: readonly (keyof Guarantees)[] | undefined
  readonly symlinks?: true | undefined
  readonly root?: '/' | '/workspace' | undefined
}

export interface DoorCase {
  readonly root: string
  readonly fixture: WorkspaceFixture
  readonly guarantees: Guarantees
  readonly skip: (reason: string) => never
  /** Opens a workspace for one test. The workspace is closed at the end of the test. */
  open(options?: SiteOptions): Promise<Site>
}

export interface DoorSuite {
  readonly describe: (title: string, define: () => void) => void
  readonly test: (title: string, needs: DoorNeeds, run: (it: DoorCase) => Promise<void>) => void
}

export function defineDoors(
  title: string,
  options: WorkspaceSuiteOptions,
  runner: Runner,
  files: readonly ((suite: DoorSuite) => void)[],
): void {
  const { name, create, roots = ['/', '/workspace'], shell = 'bash', refusesCommands, departures = {} } = options
  const titles = new Set<string>()
  for (const root of roots) {
    const test: DoorSuite['test'] = (testTitle, needs, run) => {
      titles.add(testTitle)
      runner.it(
        testTitle,
        departing(departures[testTitle], async ({ skip }) => {
          const fixture = await create()
          const sites: Site[] = []
          const place = root === 'own' ? (fixture.root ?? fail('the fixture names no `root`')) : root
          try {
            const { available, guarantees, missing } = await fixture.executor.probe({ root: paths.parseVirtual(place) })
            if (!available) skip(`the executor is not available: ${missing.join(', ')}`)
            const lacking = await lackOf(needs, { fixture, guarantees, root })
            if (lacking !== undefined) skip(lacking)
            const open = async (siteOptions?: SiteOptions): Promise<Site> => {
              if (root === 'own' && siteOptions?.skills === true) skip('no mount lies inside another at its own path')
              const site = await Site.open({ fixture, root, shell, refusesCommands }, siteOptions)
              sites.push(site)
              return site
            }
            await run({ root: place, fixture, guarantees, skip, open })
          } finally {
            for (const site of sites) await site.close()
            await fixture.dispose?.()
          }
        }),
      )
    }
    runner.describe(`${title}: ${name} at ${root}`, () => {
      for (const define of files) define({ describe: runner.describe, test })
    })
  }
  const departed = Object.keys(departures)
  if (departed.length === 0) return
  // A separate test, because some runners call `describe` callbacks late.
  runner.it(`${title}: ${name} departs from nothing that is not promised`, async () => {
    equal(
      departed.filter((departure) => !titles.has(departure)),
      [],
      'the departures from tests that there are not',
    )
  })
}

type Test = Parameters<Runner['it']>[1]

/** Inverts a test that must fail for the given reason. The expected failure counts as skipped. */
function departing(reason: string | undefined, test: Test): Test {
  if (reason === undefined) return test
  return async ({ skip }) => {
    let skipped = false
    const note = (why: string): never => {
      skipped = true
      return skip(why)
    }
    try {
      await test({ skip: note })
    } catch (error) {
      if (skipped) throw error
      return skip(`departs: ${reason}`)
    }
    throw new ConformanceError(`this test passes, so it is not a departure: ${reason}`)
  }
}

interface TestEnvironment {
  readonly fixture: WorkspaceFixture
  readonly guarantees: Guarantees
  readonly root: string
}

async function lackOf(needs: DoorNeeds, { fixture, guarantees, root }: TestEnvironment): Promise<string | undefined> {
  if (needs.root !== undefined && needs.root !== root) return `the root is at ${root}`
  if (needs.kind !== undefined && fixture.executor.kind !== needs.kind) return `executor kind ${fixture.executor.kind}`
  const wanted = [
    ...(needs.holds ?? []).map((field) => [field, satisfies(guarantees[field], 'translated')] as const),
    ...(needs.withstands ?? []).map((field) => [field, satisfies(guarantees[field], 'kernel')] as const),
    ...(needs.lacks ?? []).map((field) => [field, guarantees[field] === 'none'] as const),
  ]
  const field = wanted.find(([, right]) => !right)?.[0]
  if (field !== undefined) return `guarantee ${field}: ${guarantees[field]}`
  if (needs.symlinks === true) {
    const store = await fixture.createStore('capabilities')
    const { symlinks } = store.capabilities
    await store.close()
    if (!symlinks) return 'capability symlinks: false'
  }
  return undefined
}
