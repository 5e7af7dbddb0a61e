import { isWorkspaceError, paths, quotePath, WorkspaceError, type Workspace } from '@ws/core'
import { rewriteError, type MountPath, type SignalOption, type StorageAdapter } from '@ws/core/adapter'

import type { Lease, LeaseStore } from '../lease/types.ts'
import type { LeftOut } from '../provision/types.ts'
import { listSkills, type SkillSource } from '../skills/skills.ts'
import type { SkillList } from '../skills/types.ts'
import type { ThreadEvent, ThreadStatus, ThreadWarning } from '../types.ts'
import { skillsPath, type ThreadPlace } from './mounts.ts'

export interface ThreadParts {
  readonly place: ThreadPlace
  readonly workspace: Workspace
  readonly own: StorageAdapter
  readonly copy: StorageAdapter | undefined
  readonly leave: () => Promise<void>
  readonly lease: Lease | undefined
  readonly leaseScope: LeaseStore['scope'] | undefined
  readonly warnings: readonly ThreadWarning[]
  readonly leftOut: readonly LeftOut[]
  readonly changes: Changes
  readonly onState: (event: ThreadEvent) => void
}

export class Changes {
  dirty = false
  lastFlush: number | undefined
  failure: unknown
  readonly onChange = (): void => {
    this.dirty = true
  }
  readonly onFlush = (...error: [] | [unknown]): void => {
    this.failure = isFinal(error[0]) ? undefined : error[0]
    if (error.length === 0) this.lastFlush = Date.now()
  }
}

/** True if a retry would save nothing more: the store could not hold some entries, or two versions of an entry were kept. */
export function isFinal(error: unknown): error is WorkspaceError {
  return isWorkspaceError(error, 'ENOTSUP') || isWorkspaceError(error, 'ECONFLICT')
}

export class OpenThread {
  readonly workspace: Workspace
  readonly place: ThreadPlace
  readonly #parts: ThreadParts
  #closed = false
  #closing: Promise<void> | undefined

  constructor(parts: ThreadParts, onLost: (ended: Promise<void>) => void) {
    this.#parts = parts
    this.workspace = parts.workspace
    this.place = parts.place
    parts.lease?.lost.addEventListener('abort', () => {
      const { threadId } = parts.place
      parts.onState({ threadId, state: 'lost', error: parts.lease?.lost.reason as WorkspaceError })
      // the fence refuses a flush after the loss, so no retry could succeed
      onLost(this.close().catch(() => undefined))
    })
  }

  listSkills(options: SignalOption = {}): Promise<SkillList> {
    const { userId: own, at: root } = this.place
    const sources: SkillSource[] = [
      { source: 'system', path: paths.join(root, `${skillsPath}/system` as MountPath) },
      { source: 'user', path: paths.join(root, `${skillsPath}/${own}` as MountPath) },
    ]
    return listSkills(this.workspace, sources, options)
  }

  status(): ThreadStatus {
    const { place, own, copy, lease, leaseScope, warnings, leftOut, changes } = this.#parts
    const { threadId, userId, ticketId } = place
    const uploadsLater = own.capabilities.flush
    return {
      threadId,
      userId,
      ticketId,
      state: this.isUnflushed ? 'unflushed' : lease?.lost.aborted ? 'lost' : this.#closed ? 'closed' : 'open',
      warnings,
      leftOut,
      writer: {
        scope: leaseScope ?? 'none',
        holder: lease?.holder,
        notes: notesOf(leaseScope, uploadsLater && copy === undefined),
      },
      // commands write without the file API, so `changes` does not know their writes
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
    } catch (error) {
      changes.dirty ||= before
      throw error
    }
  }

  /** Ends the thread's commands, flushes, and releases the lease. A failed flush keeps the lease: call `close` again. */
  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      if (this.isUnflushed) this.#closing = undefined
    })
    return this.#closing
  }

  get isUnflushed(): boolean {
    const { lease, changes } = this.#parts
    return this.#closed && changes.failure !== undefined && lease?.lost.aborted !== true
  }

  async #close(): Promise<void> {
    const { lease, changes, place, own, copy, leave, onState } = this.#parts
    const { threadId } = place
    const isAgain = this.#closed
    this.#closed = true
    let failure: Error | undefined
    try {
      if (isAgain) {
        await own.flush?.()
        changes.onFlush()
      } else await this.workspace.close()
    } catch (error) {
      if (isAgain) changes.onFlush(error)
      failure = error as Error
    }
    // @defence work of the last holder that is not in the store: keeps the lease
    if (this.isUnflushed) {
      const error = unflushedError(threadId, changes.failure)
      onState({ threadId, state: 'unflushed', error })
      throw error
    }
    const ends = await Promise.allSettled([copy?.close(), leave()])
    await lease?.release()
    failure ??= ends.find((end) => end.status === 'rejected')?.reason as Error | undefined
    if (isFinal(failure)) {
      failure = incompleteError(threadId, failure)
      onState({ threadId, state: 'incomplete', error: failure as WorkspaceError })
    }
    if (failure !== undefined) throw failure
  }
}

function unflushedError(threadId: string, cause: unknown): WorkspaceError {
  const reason = isWorkspaceError(cause) ? `${cause.code}, ${cause.reason}` : 'an unexpected failure'
  return new WorkspaceError({
    code: 'EBUSY',
    operation: 'closeThread',
    path: threadId,
    reason: `keeps its lease, since its last changes are not in the store: the flush failed with ${reason}`,
    remedy: 'close or open it again when the store works: this flushes again',
    native: cause,
  })
}

function incompleteError(threadId: string, cause: WorkspaceError): WorkspaceError {
  const entry = cause.path === undefined ? 'an entry' : quotePath(cause.path)
  return rewriteError(cause, {
    operation: 'closeThread',
    path: threadId,
    reason: `was closed, and its lease given back: ${entry} ${cause.reason}`,
  })
}

function notesOf(scope: LeaseStore['scope'] | undefined, uploadsLater: boolean): string[] {
  const notes: string[] = []
  if (scope === undefined)
    notes.push('Nothing keeps another process from writing this thread: its store can hold no lease.')
  if (scope === 'process') notes.push('Other processes are not covered.')
  if (scope === 'machine') notes.push('Other machines are not covered.')
  if (scope === 'server') notes.push('A deletion that was sent before this machine paused can arrive late.')
  if (scope === 'machine')
    notes.push('While this process is stopped, its commands go on, also when another one has taken over.')
  if (uploadsLater)
    notes.push('The mount uploads later: an upload can still arrive when another process has taken over.')
  return notes
}
