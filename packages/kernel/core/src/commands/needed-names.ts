import type { Context } from '../calls/context.ts'
import type { RestrictionProblem } from '../contract/bind-plan.ts'
import { takenNames } from '../mount/mount-points.ts'
import { scratchName, systemNames } from '../mount/reserved.ts'
import { rootPath, topName } from '../path/virtual-path.ts'

const remedy = "mount it at `/workspace` instead (`at: '/workspace'`)"

/** Returns the names at `/` that real programs need and that a mount covers. `further`: names that the executor needs. */
export function neededNames(
  { aliases, mounts }: Pick<Context, 'aliases' | 'mounts'>,
  further: readonly string[] = [],
): readonly string[] {
  if (!mounts.some(({ at }) => at === rootPath)) return []
  const hasOwnScratch = mounts.some(({ at, scratch }) => at === `/${scratchName}` && !scratch)
  return [...systemNames, ...aliases, ...(hasOwnScratch ? [] : [scratchName]), ...further]
}

export async function takenProblem(
  { mounts }: Pick<Context, 'mounts'>,
  names: readonly string[],
): Promise<RestrictionProblem | undefined> {
  const [taken] = await takenNames(mounts, names)
  if (taken === undefined) return undefined
  return { reason: `the directory has an entry \`/${taken}\`, a name that commands need for the system`, remedy }
}

/** Returns why real programs cannot work with the paths of this workspace's mounts and rules. */
export async function nameProblem(context: Context): Promise<RestrictionProblem | undefined> {
  const { mounts, gate } = context
  const isSystems = (path: string): boolean => (systemNames as readonly string[]).includes(topName(path))
  const mount = mounts.find(({ at }) => isSystems(at))
  if (mount !== undefined)
    return { reason: `\`${mount.at}\` is a mount, at a name that commands need for the system`, remedy }
  const names = neededNames(context)
  if (names.length === 0) return undefined
  const { subtrees, patterns } = gate.declared
  const ruled = [
    ...subtrees.map(({ name, entries }) => ({ name, paths: entries.map(({ path }) => path as string) })),
    ...patterns.map(({ rule }) => ({ name: rule.name, paths: rule.patterns })),
  ]
  for (const { name, paths } of ruled) {
    const path = paths.find(isSystems)
    if (path !== undefined)
      return { reason: `the rule \`${name}\` is for \`${path}\`, which commands have from the system`, remedy }
  }
  return takenProblem(context, names)
}
