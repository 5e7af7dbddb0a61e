import type { HostDirectory } from '../contract/file-types.ts'
import { isWorkspaceError, quotePath, type WorkspaceError } from '../errors.ts'
import type { Executor, WorkspaceView } from '../contract/executor.ts'
import { isPreset, unmetFields } from '../contract/guarantees.ts'
import type { Requirement } from '../contract/guarantees.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { type Shortage, shortageOf } from '../shortage.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { ChosenExecutor, PassedOver } from './enforcement.ts'
import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import { nameProblem, neededNames, takenProblem } from './needed-names.ts'

export interface ChooseOptions {
  readonly context: Context
  readonly executors: readonly Executor[]
  readonly require: Requirement | undefined
  readonly view: WorkspaceView
  readonly hostDirectories: ReadonlyMap<VirtualPath, HostDirectory>
  readonly signal?: AbortSignal | undefined
}

/** Returns the first executor that is available, sees every mount and meets the requirement. @throws WorkspaceError `ENOEXECUTOR` */
export async function chooseExecutor(options: ChooseOptions): Promise<ChosenExecutor> {
  const passedOver: PassedOver[] = []
  const pass = (executor: string, reasons: readonly string[], remedies: readonly string[]): void => {
    passedOver.push({ executor, reasons, remedies })
  }
  if (isPreset(options.require)) refuseRaces(options.context.mounts)
  let unfit: ReturnType<typeof unfitForProcesses> | undefined
  for (const executor of options.executors) {
    const { name, kind } = executor
    const problem = kind === 'process' ? await (unfit ??= unfitForProcesses(options)) : undefined
    if (problem !== undefined) {
      pass(name, [problem.reason], [problem.remedy])
      continue
    }
    const { root, owner } = options.view
    const report = await executor.probe({ root, owner, signal: options.signal })
    if (!report.available) {
      pass(name, report.missing.length > 0 ? report.missing : ['is not available'], report.howToFix)
      continue
    }
    const unmet = unmetFields(report.guarantees, options.require)
    if (unmet.length > 0) {
      const held = unmet.map((field) => `${field} is \`${report.guarantees[field]}\``)
      const byName = options.require === 'untrusted' && held.length === 1 && report.guarantees.network === 'names'
      const remedies = byName ? ['require `untrusted-by-name`, which takes a list of hosts'] : report.howToFix
      pass(name, [`does not meet the requirement (${held.join(', ')})`], remedies)
      continue
    }
    try {
      const attached = await executor.attach(options.view)
      const needs = kind === 'process' ? neededNames(options.context, attached.topNames) : []
      const taken = attached.topNames && (await takenProblem(options.context, attached.topNames))
      if (!taken) return { name, executor, needs, attached, passedOver }
      await attached.close()
      pass(name, [taken.reason], [taken.remedy])
    } catch (error) {
      const shortage = shortageOf(error)
      // Does not try the next executor: a shortage is temporary, and that executor could be a weaker boundary.
      if (shortage !== undefined) throw unattached(name, shortage, error)
      if (!isWorkspaceError(error)) throw error
      pass(name, [error.reason], error.remedy === undefined ? [] : [error.remedy])
    }
  }
  const problems = passedOver.flatMap(({ executor, reasons }) => reasons.map((reason) => ({ executor, reason })))
  const told = [...Map.groupBy(problems, ({ reason }) => reason)].map(
    ([reason, all]) => `${all.map(({ executor }) => executor).join(', ')}: ${reason}`,
  )
  const remedies = new Set(passedOver.flatMap((one) => one.remedies))
  throw virtualError({
    code: 'ENOEXECUTOR',
    operation: 'createWorkspace',
    reason: `no executor can be used (${told.join('; ')})`,
    remedy: [...remedies].join('; or ') || 'pass an executor that meets the requirement',
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

/** Refuses mounts that only check paths: unreviewed code can replace a directory by a link after the check. */
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
  return await nameProblem(context)
}
