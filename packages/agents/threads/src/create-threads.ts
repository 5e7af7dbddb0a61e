import { paths, WorkspaceError, type VirtualPath } from '@ws/core'
import { contractError, signals, type StorageAdapter } from '@ws/core/adapter'
import { quietly } from '@ws/core/options'

import { checkId, foldId } from './layout/ids.ts'
import { checkLayout, type Layout } from './layout/layout.ts'
import type { Lease, LeaseStore } from './lease/types.ts'
import { exportTree, importTree } from './open/archive.ts'
import { SharedCopies } from './open/copies.ts'
import { naming } from './open/failures.ts'
import { fence } from './open/fence.ts'
import { KnownTrees } from './open/known-trees.ts'
import { openThread, type Setting } from './open/open-thread.ts'
import { Pool } from './open/pool.ts'
import { isFinal, type OpenThread } from './open/thread.ts'
import { kindOf, listThreads, measure, otherError, packsOf, treeOf } from './open/tree.ts'
import { checkOpenOptions, checkThreadsOptions } from './options.ts'
import { formatCatalogue, activateSkill } from './skills/skills.ts'
import type { OpenThreadOptions, Thread, Threads, ThreadsOptions } from './types.ts'
import { createObjectLeases } from './lease/object.ts'
import { createProcessLeases } from './lease/process.ts'

const ofProcess = new WeakMap<StorageAdapter, LeaseStore>()

function chooseLeases(adapter: StorageAdapter, control: string): LeaseStore | 'none' | undefined {
  const { conditionalWrite, hostPath, flush, inProcess } = adapter.capabilities
  if (inProcess !== true) {
    if (conditionalWrite === 'server') return createObjectLeases({ adapter, directory: `${control}/threads` })
    if (flush) return 'none' // a mount: each process has a mount of its own, which uploads later
    // the leases are files in the store, so every process that opens the store finds them
    if (hostPath) return createObjectLeases({ adapter, directory: `${control}/threads` })
  }
  if (conditionalWrite === 'none') return undefined
  const known = ofProcess.get(adapter) ?? createProcessLeases()
  ofProcess.set(adapter, known)
  return known
}

/** A workspace for each conversation, in one store. @throws WorkspaceError `EINVAL` for a wrong option; other errors come from the store */
export async function createThreads(options: ThreadsOptions): Promise<Threads> {
  checkThreadsOptions(options)
  const layout = checkLayout(options.layout)
  const at = paths.parseVirtual(options.at ?? '/', { operation: 'createThreads' })
  const owned = typeof options.store === 'function'
  const store = typeof options.store === 'function' ? await options.store() : options.store
  const chosen = options.leases ?? chooseLeases(store, layout.control)
  if (chosen === undefined) {
    if (owned) await store.close()
    const reason = 'its `store` checks no conditions, so that no lease can keep a thread to one writer'
    const remedy = "pass `leases`: a lease store elsewhere, or `'none'` where this process alone writes"
    throw new WorkspaceError({ code: 'EINVAL', operation: 'createThreads', reason, remedy })
  }
  const leases = chosen === 'none' ? undefined : chosen
  const setting: Setting = {
    executors: options.executors ?? [],
    require: options.require,
    rules: options.rules ?? [],
    commands: options.commands,
    leases,
    replica: options.replica,
    copies: options.replica && new SharedCopies(options.replica),
    template: options.template,
    checkpoints: options.checkpoints,
    provision: options.provision ?? true,
    onProvision: options.onProvision,
    onState: quietly(options.onState),
    audit: options.audit,
  }
  const pool = new Pool({ idleTimeout: options.idleTimeout ?? 300_000, maxOpen: options.maxOpen ?? 200 })
  return makeThreads({ store, layout, at, leases, setting, pool, owned })
}

/** Milliseconds for which all threads use one listing of a bucket's skills. */
const knownMs = 60_000

interface Parts {
  readonly store: StorageAdapter
  readonly layout: Layout
  readonly at: VirtualPath
  readonly leases: LeaseStore | undefined
  readonly setting: Setting
  readonly pool: Pool
  readonly owned: boolean
}

function makeThreads({ store, layout, at, leases, setting, pool, owned }: Parts): Threads {
  let closed = false
  let ended = false
  const known = new KnownTrees(store.capabilities.hostPath ? 0 : knownMs)
  const admit = (operation: string): void => {
    if (closed) throw contractError('ECLOSED', operation, '/')
  }

  const alone = async <Result>(
    operation: string,
    threadId: string,
    step: (fenced: StorageAdapter, lease: Lease | undefined) => Promise<Result>,
  ): Promise<Result> => {
    admit(operation)
    checkId(operation, 'thread', threadId)
    const isFree = await pool.evict(threadId).catch((error: unknown) => {
      if (operation !== 'deleteThread' || !isFinal(error)) throw error
      return true // the deletion removes the unsaved entries too
    })
    if (!isFree) throw inUse(operation, threadId)
    const action = { operation, outcome: 'was not touched', threadId, layout, store: store.name }
    const lease = await naming(action, async () => leases?.acquire(foldId(threadId)))
    try {
      const onChange = (): void => undefined
      const fenced = fence(store, { lease, onChange, onFlush: onChange })
      await fenced.refresh?.({ path: treeOf(layout, threadId) })
      return await step(fenced, lease)
    } finally {
      await lease?.release()
    }
  }
  const requireTree = async (operation: string, threadId: string, there: boolean): Promise<void> => {
    const kind = await kindOf(store, treeOf(layout, threadId))
    if (kind === 'other') throw otherError(operation, threadId)
    if ((kind === 'directory') === there) return
    throw new WorkspaceError({
      code: there ? 'ENOENT' : 'EEXIST',
      operation,
      path: threadId,
      reason: there ? 'does not exist' : 'exists already',
      remedy: there ? 'list the threads to see which there are' : 'choose another id',
    })
  }

  return {
    async open(options: OpenThreadOptions): Promise<Thread> {
      admit('openThread')
      const { threadId, userId, ticketId, wait, signal } = checkOpenOptions(options)
      const place = { store, known, layout, at, threadId, userId, ticketId }
      const key = { threadId, userId, ticketId }
      const opened = await pool.use(key, (onLost) => {
        admit('openThread') // the call may have waited while the threads were closed
        return openThread(place, setting, { wait, onLost, signal })
      })
      return useOf(opened, pool)
    },
    async *list(options = {}) {
      admit('listThreads')
      yield* listThreads(store, layout, options)
    },
    async delete(threadId, { dryRun = false, signal } = {}) {
      return alone('deleteThread', threadId, async (fenced, lease) => {
        await requireTree('deleteThread', threadId, true)
        const tree = treeOf(layout, threadId)
        const found = await measure(fenced, tree, { signal })
        if (dryRun) return found
        if (leases?.scope === 'server')
          await fenced.delete(packsOf(layout, threadId), { recursive: true, force: true, signal })
        await fenced.delete(tree, { recursive: true, signal })
        await lease?.writeNotes({}) // clears the id, which a new thread may spell in another case
        return found
      })
    },
    async copy(source, destination, { signal } = {}) {
      await alone('copyThread', source, (_, sourceLease) =>
        alone('copyThread', destination, async (fenced) => {
          await requireTree('copyThread', source, true)
          await requireTree('copyThread', destination, false)
          const either = sourceLease === undefined ? signal : signals.either(sourceLease.lost, signal)
          await fenced.copy(treeOf(layout, source), treeOf(layout, destination), {
            recursive: true,
            parents: true,
            signal: either,
          })
        }),
      )
    },
    async *export(threadId, options = {}) {
      admit('exportThread')
      checkId('exportThread', 'thread', threadId)
      await requireTree('exportThread', threadId, true)
      yield* exportTree(store, treeOf(layout, threadId), options)
    },
    async import(threadId, archive, options = {}) {
      await alone('importThread', threadId, async (fenced) => {
        await requireTree('importThread', threadId, false)
        const tree = treeOf(layout, threadId)
        await fenced.createDirectory(paths.parent(tree), { recursive: true })
        await fenced.createDirectory(tree) // fails if the directory exists, so the cleanup below removes only this call's directory
        try {
          await importTree(fenced, tree, archive, options)
        } catch (error) {
          await fenced.delete(tree, { recursive: true, force: true }).catch(() => undefined) // the failure of the import is reported
          throw error
        }
      })
    },
    async close() {
      closed = true
      const failure = await pool.close()
      if (!ended && owned) {
        await leases?.close()
        await store.close()
      }
      ended = true
      if (failure !== undefined) throw failure
    },
    async [Symbol.asyncDispose]() {
      await this.close()
    },
  }
}

function useOf(thread: OpenThread, pool: Pool): Thread {
  let left = false
  return {
    threadId: thread.place.threadId,
    workspace: thread.workspace,
    listSkills: (options) => thread.listSkills(options),
    formatCatalogue: async (options) => formatCatalogue((await thread.listSkills(options)).skills),
    activate: async (name, options) => activateSkill(thread.workspace, await thread.listSkills(options), name),
    status: () => thread.status(),
    flush: (options) => thread.flush(options),
    async close() {
      if (left) return
      left = true
      await pool.leave(thread.place.threadId, thread)
    },
    async [Symbol.asyncDispose]() {
      await this.close()
    },
  }
}

function inUse(operation: string, threadId: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EBUSY',
    operation,
    path: threadId,
    reason: 'is open in this process',
    remedy: 'close it first',
  })
}
