import { lstatSync } from 'node:fs'

import { paths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import type { BindPlan, RestrictionProblem } from '@ws/core/executor'
import { HostPaths, Reserve } from '@ws/sandbox'

import { temporary } from './layout.ts'
import { systemNames } from './system-mounts.ts'

/** The cost of translation, for messages. */
export const translationCost = 'programs that open many files take 8 to 100 times as long (`git status`, `grep -r`)'

/** The top-level names that the system covers, and `tmp` if the plan has no `/tmp`. */
export function mountedNames({ binds }: BindPlan, system: readonly { readonly at: string }[]): string[] {
  return [...systemNames(system), ...(binds.some(({ at }) => at === temporary) ? [] : ['tmp'])]
}

/** The top-level names to reserve in the root: mounted names, and missing directories of the plan. */
export function pointNames({ aliases, binds }: BindPlan, mounted: readonly string[]): string[] {
  const hasScratch = binds.some(({ kind }) => kind === 'scratch')
  return [...mounted, ...(hasScratch ? ['tmp'] : []), ...aliases.map((alias) => alias.slice(1))]
}

/** The reason why this plan cannot have a `direct` root, if this can be found without a trial. */
export function directProblem(plan: BindPlan): RestrictionProblem | undefined {
  const root = plan.binds.find(({ at }) => at === '/')
  const source = root?.source
  const remedy = "pass `root: 'auto'` to the executor, or mount at `/workspace`"
  const isReadOnlyMount = plan.restrictions.some(({ rule, path }) => rule === 'mount:/' && path === '/')
  if (source === undefined || root?.access === 'none' || isReadOnlyMount)
    return { reason: 'must not be written, and mount points have to be made in it', remedy }
  if (HostPaths.isOnSlowMount([source]))
    return { reason: 'lies on FUSE or on a network, where no mount points are made', remedy }
  const problem = Reserve.reservationProblem({ root: source, path: '/usr' as MountPath })
  return problem && { reason: `cannot hold mount points: \`/usr\` ${problem.reason}`, remedy: problem.remedy }
}

export function wantedPoints({ binds }: BindPlan, names: readonly string[]): Reserve.WantedName[] {
  const source = binds.find(({ at }) => at === '/')?.source
  if (source === undefined) return []
  return names.map((name) => {
    const at = paths.parseVirtual(`/${name}`)
    return { name: { root: source, path: at as string as MountPath }, at }
  })
}

/** The first of the names that already exist in the root. */
export function takenName({ binds }: BindPlan, names: readonly string[]): string | undefined {
  const source = binds.find(({ at }) => at === '/')?.source
  return source && names.find((name) => isTaken(Reserve.placeOf({ root: source, path: `/${name}` as MountPath })))
}

function isTaken(path: string): boolean {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return status !== undefined && !Reserve.reservedNames.holds(status, path)
}
