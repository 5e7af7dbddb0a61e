import type { HostDirectory } from '../adapter/types.ts'
import { isWorkspaceError, quotePath, type WorkspaceError } from '../errors.ts'
import type { Executor, WorkspaceView } from '../executor/contract.ts'
import { unmetFields } from '../executor/guarantees.ts'
import type { Requirement } from '../executor/guarantees.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { systemNames } from '../mount/reserved.ts'
import { type Shortage, shortageOf } from '../shortage.ts'
import { childPath, mountRoot } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { ChosenExecutor } from './enforcement.ts'
import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'

export interface ChooseOptions {
  readonly context: Context
  readonly executors: readonly Executor[]
  readonly require: Requirement | undefined
  readonly view: WorkspaceView
  /** The real directory of each mount that has one. */
  readonly hostDirectories: ReadonlyMap<VirtualPath, HostDirectory>
  readonly signal?: AbortSignal | undefined
}

/**
 * The first executor that is available here, can see every mount, and meets the requirement.
 *
 * @throws WorkspaceError `ENOEXECUTOR` with the problem of each executor. There is no silent fallback.
 */
export async function chooseExecutor(options: ChooseOptions): Promise<ChosenExecutor> {
  /** The executors that have each problem. */
  const problems = new Map<string, string[]>()
  const add = (name: string, problem: string): void => {
    const names = problems.get(problem)
    if (names === undefined) problems.set(problem, [name])
    else names.push(name)
  }
  const remedies: string[] = []
  if (options.require === 'untrusted') refuseRaces(options.context.mounts)
  for (const executor of options.executors) {
    const problem = executor.kind === 'process' ? await unfitForProcesses(options) : undefined
    if (problem !== undefined) {
      add(executor.name, problem.reason)
      remedies.push(problem.remedy)
      continue
    }
    const { root, owner } = options.view
    const report = await executor.probe({ root, owner, signal: options.signal })
    if (!report.available) {
      const missing = report.missing.length > 0 ? report.missing : ['is not available']
      for (const text of missing) add(executor.name, text)
      remedies.push(...report.howToFix)
      continue
    }
    const unmet = unmetFields(report.guarantees, options.require)
    if (unmet.length > 0) {
      const held = unmet.map((field) => `${field} is \`${report.guarantees[field]}\``)
      add(executor.name, `does not meet the requirement (${held.join(', ')})`)
      remedies.push(...report.howToFix)
      continue
    }
    try {
      const attached = await executor.attach(options.view)
      return { name: executor.name, attached }
    } catch (error) {
      const shortage = shortageOf(error)
      // A shortage passes, and the next executor could be a weaker boundary.
      if (shortage !== undefined) throw unattached(executor.name, shortage, error)
      if (!isWorkspaceError(error)) throw error
      add(executor.name, error.reason)
      if (error.remedy !== undefined) remedies.push(error.remedy)
    }
  }
  throw virtualError({
    code: 'ENOEXECUTOR',
    operation: 'createWorkspace',
    reason: `no executor can be used (${[...problems].map(([problem, names]) => `${names.join(', ')}: ${problem}`).join('; ')})`,
    remedy: [...new Set(remedies)].join('; or ') || 'pass an executor that meets the requirement',
  })
}

function unattached(name: string, { reason, remedy }: Shortage, native: unknown): WorkspaceError {
  return virtualError({
    code: 'ENOEXECUTOR',
    operation: 'createWorkspace',
    reason: `executor ${quotePath(name)} could not be attached: ${reason}`,
    remedy,
    native,
  })
}

/** Code that no one has reviewed can exchange a directory with a link while the file door uses it. */
function refuseRaces(mounts: readonly WorkspaceMount[]): void {
  const raced = mounts.find(({ adapter }) => adapter?.capabilities.confinement === 'checked')
  if (raced === undefined) return
  throw virtualError({
    code: 'ENOEXECUTOR',
    operation: 'createWorkspace',
    path: raced.at,
    reason: 'does not meet the requirement (its storage checks paths before it uses them, and a race can win)',
    remedy: 'use storage whose `confinement` is `verified` or `inherent`, such as a directory on Linux',
  })
}

async function unfitForProcesses({
  context,
  hostDirectories,
  view,
}: ChooseOptions): Promise<{ reason: string; remedy: string } | undefined> {
  const without = context.mounts.find(({ adapter, scratch }) => !scratch && adapter?.hostPath === undefined)
  if (without !== undefined) {
    return {
      reason: `the mount \`${without.at}\` has no directory on this machine`,
      remedy: 'use an executor that runs over the file API (`@ws/executor-virtual`)',
    }
  }
  const root = hostDirectories.get(view.root)
  if (root !== undefined && root.owner === undefined) {
    return root.ownerProblem ?? { reason: `\`${view.root}\` belongs to uid 0`, remedy: 'give it to an ordinary user' }
  }
  const atRoot = context.mounts.find(({ at }) => at === '/')
  if (atRoot?.adapter === undefined) return undefined
  const names = [...systemNames, ...context.aliases, ...(context.mounts.some(({ scratch }) => scratch) ? ['tmp'] : [])]
  for (const name of names) {
    try {
      await atRoot.adapter.stat(childPath(mountRoot, name))
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT')) continue
      throw error
    }
    return {
      reason: `the directory has an entry \`/${name}\`, a name that commands need for the system`,
      remedy: 'mount it at `/workspace` instead (`at: "/workspace"`)',
    }
  }
  return undefined
}
