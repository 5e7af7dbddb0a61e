import { isWorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

import { createExecutor, type ExecutorName } from '../config/executors.ts'
import type { ScratchStore } from '../storage/scratch.ts'
import { CheckFailure } from './expect.ts'
import { createWorld, type WorldOptions } from './host/world.ts'
import { openSite } from './site.ts'
import type { Check, CheckResult, CheckTitle, MountPoint, Outcome, Site } from './types.ts'

export interface RunOptions {
  readonly executors: readonly ExecutorName[]
  /** Checked when none of `executors` is there: an interpreter, which needs nothing installed. */
  readonly fallback?: ExecutorName | undefined
  readonly at: readonly MountPoint[]
  readonly owner: Owner
  readonly checks: readonly Check[]
  /** Puts a project into the scratch directory first. */
  readonly populate?: WorldOptions['populate']
  /** Gives each site a store of its own to have its files in. Default: a directory of this machine. */
  readonly createStore?: (() => Promise<ScratchStore>) | undefined
  readonly signal: AbortSignal
  readonly onResult?: (result: CheckResult) => void
}

/** An executor at one place that cannot run here at all. */
export interface Unavailable {
  readonly executor: ExecutorName
  readonly at: MountPoint
  readonly missing: readonly string[]
  readonly howToFix: readonly string[]
}

export interface Report {
  readonly results: readonly CheckResult[]
  readonly unavailable: readonly Unavailable[]
  /** How each executor makes the root of commands, where there is a choice. */
  readonly roots: readonly { readonly executor: ExecutorName; readonly at: MountPoint; readonly form: string }[]
  /** The checks that were asked for, in the order in which they are shown. */
  readonly checks: readonly CheckTitle[]
}

/** How many sites are worked on at the same time. */
const concurrency = 2

/** Runs the checks for each executor at each place, over a scratch directory each, which is removed in any case. */
export async function runChecks(options: RunOptions): Promise<Report> {
  const results: CheckResult[] = []
  const unavailable: Unavailable[] = []
  const roots: Report['roots'][number][] = []
  const placesOf = async (name: ExecutorName) => {
    // Attacks are programs: those that are not trusted would only be refused.
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
      if (probe.available) await checkPlace(options, name, executor, at, (result) => results.push(result))
      else unavailable.push({ executor: name, at, missing: probe.missing, howToFix: probe.howToFix })
    }
  }
  // a failure of one must not leave the other's scratch directory behind
  const workAll = async (): Promise<void> => {
    const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, work))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
  await workAll()
  if (results.length === 0 && options.fallback !== undefined) {
    places = await placesOf(options.fallback)
    await workAll()
  }
  const checks = options.checks.map(({ id, group, title, only }) => ({ id, group, title, only }))
  return { results, unavailable, roots, checks }
}

type Root = NonNullable<Parameters<Executor['probe']>[0]>['root']

const rootOf = (at: MountPoint): Root => at as string as Root

async function checkPlace(
  { owner, populate, checks, signal, onResult, createStore }: RunOptions,
  name: ExecutorName,
  executor: Executor,
  at: MountPoint,
  add: (result: CheckResult) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const store = createStore === undefined ? undefined : stack.use(await createStore())
  await using world = await createWorld({ owner, populate, store })
  await using site = await openSite({ name, executor, at, world, signal })
  const programs = await availablePrograms(site, checks)
  for (const check of checks) {
    if (check.only !== undefined && check.only !== at) continue
    const start = performance.now()
    const outcome = await runCheck(site, check, programs, executor.kind)
    const duration = Math.round(performance.now() - start)
    const { id, group, title } = check
    const result = { ...outcome, check: { id, group, title }, executor: name, at, store: store?.name, duration }
    add(result)
    onResult?.(result)
  }
}

async function runCheck(
  site: Site,
  check: Check,
  programs: ReadonlySet<string>,
  kind: Executor['kind'],
): Promise<Outcome> {
  const { needs, processes, links } = check
  if (links === true && !site.world.stored.project.links) {
    return { status: 'skipped', note: 'needs symbolic links, which the store does not hold as it is set up' }
  }
  if (processes === true && kind === 'interpreter') {
    return { status: 'skipped', note: 'needs processes, which an interpreter does not have' }
  }
  if (needs !== undefined && !programs.has(needs.program)) {
    if (kind === 'interpreter') {
      return { status: 'skipped', note: 'needs real programs, which an interpreter does not have' }
    }
    return { status: 'skipped', note: `needs ${needs.program}: apt-get install ${needs.package}` }
  }
  try {
    return { status: (await check.run(site)) ?? 'ok' }
  } catch (error) {
    site.signal.throwIfAborted()
    if (site.executor === 'sanitize' && isWorkspaceError(error, 'EUNENFORCEABLE') && error.rule === undefined)
      return { status: 'refused', note: error.message }
    if (error instanceof CheckFailure || isWorkspaceError(error)) return { status: 'failed', note: error.message }
    if (error instanceof AggregateError || !(error instanceof Error)) return { status: 'failed', note: String(error) }
    return { status: 'failed', note: `${error.name}: ${error.message}` }
  }
}

/** The programs that commands find on their PATH. */
async function availablePrograms(site: Site, checks: readonly Check[]): Promise<Set<string>> {
  const names = new Set(checks.flatMap(({ needs }) => (needs === undefined ? [] : [needs.program])))
  const { stdout } = await site.run(
    `for p in ${[...names].join(' ')}; do command -v "$p" >/dev/null && echo "$p"; done`,
  )
  return new Set(stdout.split('\n'))
}
