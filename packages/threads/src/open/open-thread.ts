import { createWorkspace, type CommandDefaults, type Rule, type VirtualPath, type Workspace } from '@ws/core'
import type { SignalOption } from '@ws/core/adapter'
import type { Executor, Requirement } from '@ws/core/executor'

import { caseError, foldId } from '../layout/ids.ts'
import type { Lease, LeaseStore } from '../lease/types.ts'
import { provision } from '../provision/provision.ts'
import type { LeftOut, ProvisionEvent, ThreadTemplate } from '../provision/types.ts'
import { listSkills, type SkillSource } from '../skills/skills.ts'
import type { SkillList } from '../skills/types.ts'
import type { ThreadStatus, ThreadWarning } from '../types.ts'
import { mountsOf, skillsPath, type ThreadPlace } from './mounts.ts'
import { ticketTreeOf, treeOf } from './tree.ts'

/** The settings that all threads of one `createThreads` share. */
export interface Setting {
  readonly executors: readonly Executor[]
  readonly require: Requirement | undefined
  readonly rules: readonly Rule[]
  readonly commands: CommandDefaults | undefined
  readonly leases: LeaseStore | undefined
  readonly template: ThreadTemplate | undefined
  readonly provision: boolean
  readonly onProvision: ((event: ProvisionEvent) => void) | undefined
}

/** The note beside a lease that holds the exact id, since leases are named by the folded one. The tree is there then. */
const idNote = 'id'

interface Parts {
  readonly place: ThreadPlace
  readonly workspace: Workspace
  readonly lease: Lease | undefined
  readonly leaseScope: LeaseStore['scope'] | undefined
  readonly warnings: readonly ThreadWarning[]
  readonly leftOut: readonly LeftOut[]
  readonly changes: Changes
}

/** Whether anything may have changed since the last flush. */
class Changes {
  dirty = false
  lastFlush: number | undefined
  readonly note = (): void => {
    this.dirty = true
  }
}

/** A thread that is open in this process, whoever uses it. */
export class OpenThread {
  readonly workspace: Workspace
  readonly place: ThreadPlace
  readonly #parts: Parts
  #closed = false

  constructor(parts: Parts, onLost: () => void) {
    this.#parts = parts
    this.workspace = parts.workspace
    this.place = parts.place
    parts.lease?.lost.addEventListener('abort', () => {
      onLost()
      void this.close().catch(() => undefined)
    })
  }

  listSkills(options: SignalOption = {}): Promise<SkillList> {
    const own = this.place.userId
    const sources: SkillSource[] = [
      { source: 'system', path: `${skillsPath}/system` as VirtualPath },
      { source: 'user', path: `${skillsPath}/${own}` as VirtualPath },
    ]
    return listSkills(this.workspace, sources, options)
  }

  status(): ThreadStatus {
    const { place, lease, leaseScope, warnings, leftOut, changes } = this.#parts
    const { threadId, userId, ticketId, store } = place
    const lost = lease !== undefined && !this.#closed && !lease.isHeld()
    const uploadsLater = store.capabilities.flush
    return {
      threadId,
      userId,
      ticketId,
      state: this.#closed ? (lease?.lost.aborted ? 'lost' : 'closed') : lost ? 'lost' : 'open',
      warnings,
      leftOut,
      writer: { scope: leaseScope ?? 'none', holder: lease?.holder, notes: notesOf(leaseScope, uploadsLater) },
      // a command writes past the file door
      dirty: uploadsLater && (changes.dirty || this.workspace.executor !== undefined),
      lastFlush: changes.lastFlush,
      executor: this.workspace.executor,
    }
  }

  async flush(options: SignalOption = {}): Promise<void> {
    const { changes } = this.#parts
    const before = changes.dirty
    changes.dirty = false
    try {
      await this.workspace.flush(options)
      changes.lastFlush = Date.now()
    } catch (error) {
      changes.dirty ||= before
      throw error
    }
  }

  /** Ends its commands, flushes, and gives the lease back. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      await this.workspace.close()
    } finally {
      await this.#parts.lease?.release()
    }
  }
}

function notesOf(scope: LeaseStore['scope'] | undefined, uploadsLater: boolean): string[] {
  const notes: string[] = []
  if (scope === undefined)
    notes.push('Nothing keeps another process from writing this thread: its store can hold no lease.')
  if (scope === 'process') notes.push('Other processes are not covered.')
  if (scope === 'machine') notes.push('Other machines are not covered.')
  if (scope === 'server') notes.push('A deletion that was sent before this machine paused can arrive late.')
  if (uploadsLater)
    notes.push('The mount uploads later: an upload can still arrive when another process has taken over.')
  return notes
}

/** Opens a thread: takes its lease, mounts its trees, and makes the parts that are missing. */
export async function openThread(
  place: ThreadPlace,
  setting: Setting,
  options: { readonly wait: number | undefined; readonly onLost: () => void; readonly signal: AbortSignal | undefined },
): Promise<OpenThread> {
  const { signal, wait } = options
  const { leases } = setting
  const lease = await leases?.acquire(foldId(place.threadId), { wait, signal })
  try {
    const { store, layout, ticketId } = place
    const trees = [treeOf(layout, place.threadId), ...(ticketId === undefined ? [] : [ticketTreeOf(layout, ticketId)])]
    // another machine may have written since this one looked: nothing is read on an old listing
    await Promise.all(trees.map(async (path) => store.refresh?.({ path, signal })))
    const isNew = lease?.notes[idNote] === undefined
    // a directory on a disk or a mount can be gone, and costs little to make
    if (isNew || store.capabilities.hostPath || store.capabilities.keepsEmptyDirectories) await makeTree(place, signal)
    await noteId(lease, place.threadId)
    const changes = new Changes()
    const { mounts, warnings } = await mountsOf(place, { lease, onChange: changes.note })
    const workspace = await createWorkspace({
      mounts,
      rules: setting.rules,
      executors: setting.executors,
      require: setting.require,
      commands: { ...setting.commands, env: { HOME: '/', USER: 'user', ...setting.commands?.env } },
      labels: { thread: place.threadId, user: place.userId, ...(place.ticketId && { ticket: place.ticketId }) },
      signal,
    })
    try {
      const leftOut = setting.provision ? await setUp(place, setting, { workspace, signal }) : []
      const leaseScope = leases?.scope
      return new OpenThread({ place, workspace, lease, leaseScope, warnings, leftOut, changes }, options.onLost)
    } catch (error) {
      await workspace.close()
      throw error
    }
  } catch (error) {
    await lease?.release()
    throw error
  }
}

/** Two ids that differ in case only would share a lease, and on some disks a tree. */
async function noteId(lease: Lease | undefined, threadId: string): Promise<void> {
  if (lease === undefined) return
  const known = lease.notes[idNote]
  if (known === undefined) await lease.writeNotes({ [idNote]: threadId })
  else if (known !== threadId) throw caseError('openThread', 'thread', known)
}

/** The tree of a new thread is there before it is mounted [RP12]. */
async function makeTree({ store, layout, threadId }: ThreadPlace, signal: AbortSignal | undefined): Promise<void> {
  await store.createDirectory(treeOf(layout, threadId), { recursive: true, signal })
}

interface SetUp {
  readonly workspace: Workspace
  readonly signal: AbortSignal | undefined
}

/** Makes the parts that are missing. */
async function setUp(place: ThreadPlace, setting: Setting, { workspace, signal }: SetUp): Promise<readonly LeftOut[]> {
  const { leftOut } = await provision({
    threadId: place.threadId,
    workspace,
    template: setting.template,
    noProcesses: processProblem(workspace, setting.executors),
    noLinks: place.store.capabilities.symlinks ? undefined : 'was left out: the store holds no links',
    report: (event) => setting.onProvision?.(event),
    signal,
  })
  return leftOut
}

function processProblem({ executor }: Workspace, executors: readonly Executor[]): string | undefined {
  if (executor === undefined) return 'was left out: the thread has no executor'
  const { kind } = executors.find(({ name }) => name === executor.name) ?? {}
  return kind === 'process' ? undefined : `was left out: the executor ${executor.name} runs no programs`
}
