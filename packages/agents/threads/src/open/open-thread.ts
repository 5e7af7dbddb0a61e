import {
  createWorkspace,
  isWorkspaceError,
  paths,
  prefix,
  type AccessEvent,
  type CommandDefaults,
  type MountOptions,
  type Rule,
  type Workspace,
} from '@ws/core'
import { LinkSignal, type MountPath, type SignalOption, type StorageAdapter } from '@ws/core/adapter'
import type { Executor, Requirement } from '@ws/core/executor'
import type { InnerAdapter } from '@ws/core/inner'

import { caseError, foldId } from '../layout/ids.ts'
import type { Lease, LeaseStore } from '../lease/types.ts'
import { provision } from '../provision/provision.ts'
import type { LeftOut, ProvisionEvent, ThreadTemplate } from '../provision/types.ts'
import type { ThreadEvent, ThreadsOptions } from '../types.ts'
import type { SharedCopies } from './copies.ts'
import { naming } from './failures.ts'
import { fence } from './fence.ts'
import { mountPointsOf, mountsOf, type ThreadPlace } from './mounts.ts'
import { Changes, OpenThread } from './thread.ts'
import { otherError, packsOf, ticketTreeOf, treeOf } from './tree.ts'
import { hasDirectories, idNote, isNew, unmake } from './unmake.ts'

export interface Setting {
  readonly executors: readonly Executor[]
  readonly require: Requirement | undefined
  readonly rules: readonly Rule[]
  readonly commands: CommandDefaults | undefined
  readonly leases: LeaseStore | undefined
  readonly replica: ThreadsOptions['replica']
  readonly copies: SharedCopies | undefined
  readonly template: ThreadTemplate | undefined
  readonly checkpoints: ThreadsOptions['checkpoints']
  readonly provision: boolean
  readonly onProvision: ((event: ProvisionEvent) => void) | undefined
  readonly onState: (event: ThreadEvent) => void
  readonly audit: ((event: AccessEvent) => void) | undefined
}

interface Opening {
  readonly wait: number | undefined
  readonly onLost: (ended: Promise<void>) => void
  readonly signal: AbortSignal | undefined
}

export function openThread(place: ThreadPlace, setting: Setting, options: Opening): Promise<OpenThread> {
  const { threadId, layout, store } = place
  const action = { operation: 'openThread', outcome: 'was not opened', threadId, layout, store: store.name }
  return naming(action, () => open(place, setting, options))
}

async function open(place: ThreadPlace, setting: Setting, options: Opening): Promise<OpenThread> {
  const { signal, wait } = options
  const { leases } = setting
  // with a copy or an interpreter, the fence checks every change of a command, so the lease may outlast a silent store
  const patient = setting.replica !== undefined || !place.store.capabilities.hostPath
  const lease = await leases?.acquire(foldId(place.threadId), { wait, patient, signal })
  const ends: (() => Promise<unknown> | undefined)[] = [() => lease?.release()]
  try {
    if (await isNew(place, lease)) ends.unshift(() => unmake(place, lease))
    const changes = new Changes()
    const { own, copy } = await ownTree(place, setting, { lease, changes, signal })
    if (copy !== undefined) ends.unshift(() => copy.close())
    const { mounts, warnings, leave } = await mountsOf(place, {
      // with a lease, the fence ends the use of the tree, and each later call reports the loss
      own: lease !== undefined || copy !== undefined ? own : () => own,
      copies: setting.copies,
    })
    ends.unshift(leave)
    const labels = { thread: place.threadId, user: place.userId, ...(place.ticketId && { ticket: place.ticketId }) }
    const workspace = await createWorkspace({
      mounts,
      rules: setting.rules,
      executors: setting.executors,
      require: setting.require,
      commands: { ...setting.commands, env: { HOME: place.at, USER: 'user', ...setting.commands?.env } },
      labels,
      checkpoints: setting.checkpoints,
      signal,
    })
    ends.unshift(() => workspace.close())
    if (setting.audit !== undefined) workspace.on('access', setting.audit)
    const isOnDisk = copy === undefined && place.store.capabilities.symlinks
    const leftOut = setting.provision
      ? await setUp(place, setting, { workspace, mounts, labels, isOnDisk, signal })
      : []
    const leaseScope = leases?.scope
    const { onState } = setting
    await lease?.confirm?.({ signal })
    return new OpenThread(
      { place, workspace, own, copy, leave, lease, leaseScope, warnings, leftOut, changes, onState },
      options.onLost,
    )
  } catch (error) {
    for (const end of ends) await Promise.resolve(end()).catch(() => undefined) // the first failure is reported below
    throw error
  }
}

interface Owning extends SignalOption {
  readonly lease: Lease | undefined
  readonly changes: Changes
}

async function ownTree(
  place: ThreadPlace,
  { replica, leases }: Setting,
  { lease, changes, signal }: Owning,
): Promise<{ readonly own: StorageAdapter; readonly copy: StorageAdapter | undefined }> {
  const { layout, threadId, ticketId } = place
  const { onChange, onFlush } = changes
  const made = new Set<string>()
  const heard = replica === undefined ? { onChange, onFlush } : { onChange: nothing, onFlush: nothing }
  const store = fence(place.store, { lease, directories: made, ...heard })
  // another machine may have written in the meantime: drop cached listings
  const trees = [treeOf(layout, threadId), ...(ticketId === undefined ? [] : [ticketTreeOf(layout, ticketId)])]
  await Promise.all(trees.map(async (path) => store.refresh?.({ path, signal })))
  await makeTree(place, { store, lease, made, signal })
  const tree = prefix(store, treeOf(layout, threadId), { shared: true })
  const beside = prefix(store, packsOf(layout, threadId), { shared: true })
  const sole = { isSole: leases?.scope === 'server', beside } satisfies Pick<InnerAdapter, 'isSole' | 'beside'>
  const copy = await replica?.({ store: Object.assign(tree, sole), threadId })
  return { own: copy === undefined ? tree : fence(copy, { lease, onChange, onFlush }), copy }
}

const nothing = (): void => undefined

/** The lease's note that lists the mount points made, for stores that need no parents for them. */
const pointsNote = 'mountPoints'

interface Making {
  readonly store: StorageAdapter
  readonly lease: Lease | undefined
  readonly made: Set<string>
  readonly signal: AbortSignal | undefined
}

/** Makes the tree of a new thread before it is mounted [RP12]. A note of the lease records the tree, since a check costs requests. */
async function makeTree(place: ThreadPlace, { store, lease, made, signal }: Making): Promise<void> {
  const { threadId, layout } = place
  const known = lease?.notes[idNote]
  if (known !== undefined && known !== threadId) throw caseError('openThread', 'thread', known)
  const tree = treeOf(layout, threadId)
  try {
    if (lease === undefined || hasDirectories(store)) {
      // on a disk or a mount, a directory can vanish, and creating it costs little
      await store.createDirectory(tree, { recursive: true, signal })
      if (known === undefined) await lease?.writeNotes({ [idNote]: threadId })
      return
    }
    const noted = (lease.notes[pointsNote] ?? '').split(' ')
    const points = mountPointsOf(place)
    const missing = points.filter((point) => !noted.includes(point))
    const places = missing.map((point) => paths.parseMount(`${tree}${point}`, 'openThread'))
    await Promise.all(places.map((path) => makePoint(store, path, signal)))
    for (const point of points) made.add(`${tree}${point}`)
    const notes = { [idNote]: threadId, [pointsNote]: [...noted, ...missing].join(' ').trim() }
    if (missing.length > 0) await lease.writeNotes(notes)
  } catch (error) {
    const isOther =
      error instanceof LinkSignal || isWorkspaceError(error, 'EEXIST') || isWorkspaceError(error, 'ENOTDIR')
    throw isOther ? otherError('openThread', threadId) : error
  }
}

async function makePoint(store: StorageAdapter, path: MountPath, signal: AbortSignal | undefined): Promise<void> {
  try {
    await store.createDirectory(path, { signal })
  } catch (error) {
    if (!isWorkspaceError(error, 'EEXIST')) throw error
    // the workspace refuses a file as the place of a mount
    if ((await store.stat(path, { signal })).type !== 'directory') throw error
  }
}

interface SetUp {
  readonly workspace: Workspace
  readonly mounts: readonly MountOptions[]
  readonly labels: Readonly<Record<string, string>>
  readonly isOnDisk: boolean
  readonly signal: AbortSignal | undefined
}

/** Makes the missing parts. The operator's rules govern the operator's files, and the audit records the operator. */
async function setUp(
  place: ThreadPlace,
  setting: Setting,
  { workspace, mounts, labels, isOnDisk, signal }: SetUp,
): Promise<readonly LeftOut[]> {
  let operator: Workspace | undefined
  const openOperator = async (): Promise<Workspace> => {
    if (operator !== undefined) return operator
    operator = await createWorkspace({ mounts, scratch: false, labels: { ...labels, by: 'provisioning' }, signal })
    if (setting.audit !== undefined) operator.on('access', setting.audit)
    return operator
  }
  try {
    const { leftOut } = await provision({
      threadId: place.threadId,
      workspace,
      operator: setting.rules.length === 0 ? async () => workspace : openOperator,
      template: setting.template,
      noProcesses: processProblem(workspace, setting.executors),
      links: place.store.capabilities.symlinks,
      pip: isOnDisk,
      report: (event) => setting.onProvision?.(event),
      signal,
    })
    return leftOut
  } finally {
    await operator?.close()
  }
}

function processProblem({ executor }: Workspace, executors: readonly Executor[]): string | undefined {
  if (executor === undefined) return 'was left out: the thread has no executor'
  const { kind } = executors.find(({ name }) => name === executor.name) ?? {}
  return kind === 'process' ? undefined : `was left out: the executor ${executor.name} runs no programs`
}
