import {
  createWorkspace,
  rules,
  type AccessEvent,
  type CheckpointEngine,
  type Rule,
  type Workspace,
  type WorkspaceError,
} from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor, Requirement } from '@ws/core/executor'

import { breach } from '../errors.ts'
import type { CheckedStep } from '../plan/checked.ts'
import { outputAt, workspaceAt, type OutputPlace } from '../paths.ts'
import { onlyDeclared } from './declared.ts'

export interface StepWorkspaceOptions {
  readonly step: CheckedStep
  readonly workspace: StorageAdapter
  readonly staging: StorageAdapter
  readonly place: OutputPlace
  readonly executors: readonly Executor[] | undefined
  readonly require: Requirement | undefined
  readonly checkpoints: CheckpointEngine | undefined
  readonly labels: Readonly<Record<string, string>>
  readonly onEvent: (event: AccessEvent) => void
  readonly onBreach: (error: WorkspaceError) => void
}

/** The workspace of one step, for files and commands: inputs below `/workspace`, outputs below `/output`, `/tmp`, and system programs. */
export async function openStepWorkspace(options: StepWorkspaceOptions): Promise<Workspace> {
  const { step, workspace: inputs, staging, executors, require, checkpoints, labels, onEvent, onBreach } = options
  const mayWrite = step.exceptions.length > 0
  const workspace = await createWorkspace({
    mounts: [
      { at: workspaceAt, adapter: inputs, access: mayWrite ? 'read-write' : 'read-only' },
      { at: outputAt, adapter: onlyDeclared(staging, step.outputs, onBreach) },
    ],
    rules: stepRules(options),
    executors,
    require,
    checkpoints,
    labels,
    // `HOME` is `/tmp`: start-up files of the workspace are not inputs, and its root is read-only.
    commands: { env: { HOME: '/tmp', OUTPUT: outputAt, WORKSPACE: workspaceAt } },
  })
  workspace.on('access', (event) => {
    onEvent(event)
    const { door, outcome, code, rule, operation, path, resolvedPath } = event
    if (door !== 'files' || outcome !== 'denied' || code === undefined) return
    const reason = code === 'EOUTSIDE' ? 'climbs above the root' : 'is not among the inputs or outputs of this step'
    const remedy = 'use a declared input or output, or declare this one'
    onBreach(breach({ operation, path: resolvedPath ?? path, reason, rule: rule ?? 'inputs', remedy }))
  })
  return workspace
}

function stepRules({ step, place }: StepWorkspaceOptions): Rule[] {
  const entries: Record<string, 'none' | 'read-only' | 'read-write'> = { [workspaceAt]: 'none' }
  // An input may contain the output: the outputs of other steps are hidden unless they are inputs.
  if (place.inWorkspace !== undefined) entries[`${workspaceAt}/${place.inWorkspace}`] = 'none'
  for (const input of step.inputs) entries[placeIn(input)] = 'read-only'
  for (const { path } of step.exceptions) entries[placeIn(path)] = 'read-write'
  const reason = 'is not an input of this step'
  const inputs = rules.subtree({ name: 'inputs', entries, reason, remedy: 'declare it in `inputs`' })
  return step.hosts === undefined ? [inputs] : [inputs, rules.allowHosts(step.hosts, { name: 'hosts' })]
}

export const placeIn = (path: string): string => (path === '' ? workspaceAt : `${workspaceAt}/${path}`)
