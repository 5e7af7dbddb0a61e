import { isWorkspaceError } from '../errors.ts'
import type { StorageAdapter } from '../adapter/contract.ts'
import type { Context } from '../calls/context.ts'
import type { RestrictionProblem } from '../executor/bind-plan.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { scratchName, systemNames } from '../mount/reserved.ts'
import { childPath, mountRoot, rootPath, topName } from '../path/virtual-path.ts'

const remedy = "mount it at `/workspace` instead (`at: '/workspace'`)"

/**
 * The names at `/` that real programs need for the system, where a mount lies there.
 *
 * @param further those that the executor needs for itself
 */
export function neededNames(
  { aliases, mounts }: Pick<Context, 'aliases' | 'mounts'>,
  further: readonly string[] = [],
): readonly string[] {
  if (!mounts.some(({ at }) => at === rootPath)) return []
  const hasOwnScratch = mounts.some(({ at, scratch }) => at === `/${scratchName}` && !scratch)
  return [...systemNames, ...aliases, ...(hasOwnScratch ? [] : [scratchName]), ...further]
}

/** Entries of a store's root that are listed before its names are asked for one by one. */
const mostListed = 1000

/** Those of the names that are mounts at `/`, or entries of the mount there. Asks no rule. */
export async function takenNames(
  mounts: readonly WorkspaceMount[],
  names: readonly string[],
): Promise<readonly string[]> {
  const adapter = mounts.find(({ at }) => at === rootPath)?.adapter
  const found = adapter === undefined || names.length === 0 ? new Set<string>() : await entriesOf(adapter, names)
  for (const { at, scratch } of mounts) if (!scratch) found.add(topName(at))
  return names.filter((name) => found.has(name))
}

/** A listing is one request to a bucket, and a name that is missing takes several. */
async function entriesOf(adapter: StorageAdapter, names: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  const { hostPath, inProcess } = adapter.capabilities
  try {
    if (!hostPath && inProcess !== true) {
      let left = mostListed
      for await (const { name } of adapter.list(mountRoot)) {
        found.add(name)
        if (--left === 0) break
      }
      if (left > 0) return found
    }
    for (const name of await Promise.all(names.map((one) => ifThere(adapter, one)))) if (name) found.add(name)
    return found
  } catch (error) {
    throw translateError(error, { operation: 'open', at: rootPath, path: rootPath })
  }
}

async function ifThere(adapter: StorageAdapter, name: string): Promise<string | undefined> {
  try {
    await adapter.stat(childPath(mountRoot, name))
    return name
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Why commands cannot have these names. */
export async function takenProblem(
  { mounts }: Pick<Context, 'mounts'>,
  names: readonly string[],
): Promise<RestrictionProblem | undefined> {
  const [taken] = await takenNames(mounts, names)
  if (taken === undefined) return undefined
  return { reason: `the directory has an entry \`/${taken}\`, a name that commands need for the system`, remedy }
}

/** Why real programs cannot work at the places of this workspace's mounts and rules. */
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

/** @throws WorkspaceError `EBUSY` where an entry has come to one of the names since the executor was chosen. */
export async function requireNames({ mounts }: Pick<Context, 'mounts'>, names: readonly string[]): Promise<void> {
  const [taken] = await takenNames(mounts, names)
  if (taken === undefined) return
  throw virtualError({
    code: 'EBUSY',
    operation: 'exec',
    path: childPath(rootPath, taken),
    reason: 'has appeared in the workspace, and commands need that name for the system',
    remedy: 'delete it, or mount the project at `/workspace`',
  })
}
