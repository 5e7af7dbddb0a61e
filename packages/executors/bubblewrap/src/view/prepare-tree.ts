import { isWorkspaceError, paths, type WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { execError, type BindPlan, type HostPath, type RootForm, type RestrictionProblem } from '@ws/core/executor'
import { howToInstall, type Reserve, type SystemEntry } from '@ws/sandbox'

import { isAtRoot, type LayoutMode, type Placement } from './layout.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Programs } from '../programs.ts'
import { directProblem, mountedNames, pointNames, takenName, wantedPoints } from './root-form.ts'
import type { OpenedSources } from './sources.ts'
import type { KeptNames } from './kept-names.ts'

export interface Prepared {
  readonly mode: LayoutMode
  readonly held: Reserve.Reservation | undefined
  /** For `direct`. `mounted`: top-level names that the system covers. `hidden`: top-level names that listings omit. */
  readonly mounted?: readonly string[] | undefined
  readonly hidden?: readonly string[] | undefined
}

export interface PrepareOptions {
  readonly owner: Owner
  readonly options: ResolvedOptions
  readonly programs: Programs
  readonly keeper: () => Reserve.NameKeeper
  /** Keeps the names that a mount at `/` needs. */
  readonly keptNames?: KeptNames | undefined
}

/**
 * Chooses how the root of a mount at `/` is built. Reserves the names that this root and the rules need.
 * @throws WorkspaceError `EBUSY`, `EUNENFORCEABLE` if names cannot be reserved; `EUNENFORCEABLE`, `ENOEXECUTOR` if the root cannot be
 * built in the requested way
 */
export async function prepareTree(
  plan: BindPlan,
  system: readonly SystemEntry[],
  { owner, options, programs, keeper, keptNames }: PrepareOptions,
): Promise<Prepared> {
  const reserve = async (names: readonly Reserve.WantedName[]) =>
    names.length === 0 ? undefined : await keeper().reserve(names, owner)
  const missing = missingNames(plan)
  if (!isAtRoot(plan)) return { mode: 'below', held: await reserve(missing) }
  const mayTranslate = options.root !== 'direct' && programs.proot !== undefined
  const { mounted, hidden, problem } = lookAtRoot(plan, system, { options, programs })
  if (problem === undefined) {
    try {
      const points = wantedPoints(plan, hidden)
      await keptNames?.check()
      const held = await reserve([...missing, ...points])
      try {
        await keptNames?.keep(points, owner, keeper())
      } catch (error) {
        await held?.release()
        throw error
      }
      return { mode: 'direct', held, mounted, hidden }
    } catch (error) {
      if (!mayTranslate || !isWorkspaceError(error) || takenName(plan, hidden) !== undefined) throw error
    }
  } else if (options.root === 'direct') throw unenforceable(problem.reason, problem.remedy)
  if (programs.proot === undefined) throw needsProot()
  return { mode: 'translated', held: await reserve(missing) }
}

export function rootFormOf(
  plan: BindPlan,
  system: readonly SystemEntry[],
  known: Pick<PrepareOptions, 'options' | 'programs'>,
): RootForm {
  const { problem } = lookAtRoot(plan, system, known)
  if (problem === undefined) return { form: 'direct' }
  const { reason, remedy } = problem
  return known.options.root === 'direct'
    ? { form: 'direct', refused: unenforceable(reason, remedy) }
    : { form: 'translated', reason }
}

/** The form that a mount at `/` would take, if this can be found without a trial. */
function lookAtRoot(
  plan: BindPlan,
  system: readonly SystemEntry[],
  { options, programs }: Pick<PrepareOptions, 'options' | 'programs'>,
): {
  readonly mounted: readonly string[]
  readonly hidden: readonly string[]
  /** The reason why the root cannot be `direct`. */
  readonly problem: RestrictionProblem | undefined
} {
  const mounted = mountedNames(plan, [...system, ...options.tools])
  const hidden = pointNames(plan, mounted)
  return { mounted, hidden, problem: findProblem() }

  function findProblem(): RestrictionProblem | undefined {
    const remedy = "pass `root: 'auto'` to the executor"
    if (options.root === 'translated') return { reason: 'is to be translated, as the option `root` says', remedy }
    if (programs.direct !== true)
      return { reason: 'cannot be the root itself on this machine (`ws doctor -v`)', remedy }
    return directProblem(plan)
  }
}

function missingNames({ binds }: BindPlan): Reserve.WantedName[] {
  return binds.flatMap(({ missing, at, rules }) =>
    missing === undefined ? [] : [{ name: missing, at, rule: rules[0] }],
  )
}

/** Checks that each reserved name still leads to the directory that reserves the name. */
export function checkReserved(
  placements: readonly Placement[],
  sources: OpenedSources,
  reserved: ReadonlyMap<HostPath, string>,
): void {
  for (const { beneath, virtual, rule } of placements) {
    if (beneath === undefined || !reserved.has(beneath) || sources.identity(beneath) === reserved.get(beneath)) continue
    throw execError('EBUSY', 'appeared or changed while the command was started', {
      path: virtual,
      rule,
      remedy: 'run the command again',
    })
  }
}

/** `device:inode` of the directory that is the root. */
export function rootIdentity({ binds }: BindPlan, sources: OpenedSources): string {
  const source = binds.find(({ at }) => at === paths.root)?.source
  const identity = source === undefined ? undefined : sources.identity(source)
  if (identity === undefined) throw new Error('the root was not opened')
  return identity
}

function unenforceable(reason: string, remedy: string): WorkspaceError {
  return execError('EUNENFORCEABLE', `cannot be the root of commands itself: it ${reason}`, {
    path: paths.root,
    remedy,
  })
}

function needsProot(): WorkspaceError {
  return execError('ENOEXECUTOR', 'a mount at `/` takes proot, which is not installed', {
    remedy: `\`${howToInstall('proot')}\`, or mount at /workspace`,
  })
}
