import { hash } from 'node:crypto'

import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import {
  type AdapterCapabilities,
  type AdapterOperation,
  type Call,
  type MountPath,
  operations,
  type OperationFacts,
  rewriteError,
  type StorageAdapter,
  wrapAdapter,
  type SignalOption,
} from '@ws/core/adapter'

import type { ReplicaAdapter, ReplicaStatus, ReplicaVerification } from './contract.ts'
import { failure, typed } from './errors.ts'
import type { Engine } from './sync/engine.ts'
import { isBelowName } from './sync/paths.ts'
import type { Site } from './sync/site.ts'

/** Operations that read or change every entry below their path. */
const wholeTrees: ReadonlySet<AdapterOperation> = new Set(['list', 'search', 'delete', 'move', 'copy'])

export interface ReplicaParts {
  readonly local: StorageAdapter
  readonly engine: Engine
  readonly persist: 'command' | 'flush'
  /** True if the directory remains after `close()`. */
  readonly isKept: boolean
  readonly release: () => Promise<void>
}

/**
 * Creates the adapter over the local directory. A call works on the disk, then waits for the store. If the last push of `close()` fails,
 * a directory of the caller keeps the changes for the next replica. With a scratch directory, the adapter remains open.
 */
export function createAdapter({ local, engine, persist, isKept, release }: ReplicaParts): ReplicaAdapter {
  const { site } = engine
  const { store, turnstile, tree } = site
  const capabilities = capabilitiesOf(local, store)
  let closing: Promise<void> | undefined
  let ended = false
  const saved = async (changed: readonly MountPath[], operation: string, waits: boolean): Promise<void> => {
    if (waits) await engine.acknowledge(changed, operation)
    else engine.rest()
  }
  const needs = async (call: Call): Promise<void> => {
    const { operation, path, destination, recursive = false, signal } = call
    const needed = operation === 'list' && !recursive ? 'children' : wholeTrees.has(operation) ? 'below' : 'entry'
    await engine.need(path, needed, { operation, signal })
    if (destination !== undefined) await engine.need(destination, 'below', { operation, signal })
  }
  const outer = wrapAdapter(local, {
    name: `replica(${store.name})`,
    capabilities,
    iterate: (call) => ({ before: () => (engine.copy.progress === undefined ? undefined : needs(call)) }),
    call: async (call, run) => {
      const { operation, path, destination } = call
      if (engine.copy.progress !== undefined) await needs(call)
      const facts: OperationFacts = operations[operation]
      const inStore = (error: unknown): never => {
        const left = tree.notHeld.get(path)
        if (left === undefined || !isWorkspaceError(error, 'ENOENT')) throw error
        const reason = `is in the store, and not on this machine: ${left.reason}`
        throw failure('ENOTSUP', { operation, path, reason, remedy: 'read it in the store, or choose another path' })
      }
      if (!facts.changes) return run().catch(inStore)
      if (facts.creates !== undefined) checkName(destination ?? path, operation, capabilities)
      const result = await turnstile.pass(() => undefined, run).catch(inStore)
      await saved(destination === undefined ? [path] : [path, destination], operation, persist === 'command')
      return result
    },
  })
  const { stat, close: closeDisk } = outer
  const close = async (): Promise<void> => {
    if (ended) return
    closing ??= (async () => {
      let failure: WorkspaceError | undefined
      try {
        await engine.end(!isKept).catch((error: unknown) => {
          if (!isKept && !isFinal(error)) throw error
          failure = waiting(typed(error))
        })
        ended = true
      } finally {
        closing = undefined
      }
      await engine.copy.end()
      await closeDisk()
      await release()
      if (failure !== undefined) throw failure
    })()
    await closing
  }
  const own = {
    identity: store.identity,
    // bytes are safe only in the store, so `flush` pushes them there
    sync: undefined,
    flush: async ({ signal } = {}) => {
      await stat('/' as MountPath, { signal }) // open, and not aborted
      return engine.flush(signal)
    },
    refresh: async ({ signal } = {}) => {
      await stat('/' as MountPath, { signal })
      await engine.refresh(signal, 'refresh')
    },
    beginCommand: async (options = {}) => {
      await stat('/' as MountPath, { signal: options.signal })
      return engine.begin(options)
    },
    createFork: async (options = {}) => {
      await stat('/' as MountPath, { signal: options.signal })
      // before a command, all files are brought over
      await engine.complete(options.signal, 'createFork')
      if (local.createFork === undefined) throw new Error('a local directory can always be forked')
      return local.createFork(options)
    },
    status: (): ReplicaStatus => ({ ...tree.status(), copying: engine.copy.progress }),
    verify: async (options = {}): Promise<ReplicaVerification> => {
      await engine.complete(options.signal, 'verify')
      return verify(site, options)
    },
    close,
    [Symbol.asyncDispose]: close,
  } satisfies Partial<Omit<ReplicaAdapter, 'sync'>> & { readonly sync: undefined }
  return Object.assign(outer, own) as unknown as ReplicaAdapter
}

function capabilitiesOf(local: StorageAdapter, store: StorageAdapter): AdapterCapabilities {
  const { controlCharacters, caseSensitive, maxNameBytes, maxPathBytes } = store.capabilities
  const { capabilities } = local
  return Object.freeze({
    ...capabilities,
    flush: true,
    controlCharacters: capabilities.controlCharacters && controlCharacters,
    caseSensitive: capabilities.caseSensitive && caseSensitive,
    maxNameBytes: Math.min(capabilities.maxNameBytes, maxNameBytes),
    maxPathBytes: Math.min(capabilities.maxPathBytes, maxPathBytes),
    // the replica reads the store again only before a command or at `refresh`
    maxStaleness: Number.MAX_SAFE_INTEGER,
  })
}

/** The error of `close()` if its last push fails, but the directory keeps the changes. */
function waiting(error: WorkspaceError): WorkspaceError {
  const remedy = isFinal(error) ? error.remedy : 'make a replica in the same directory again: it pushes what waits'
  return rewriteError(error, { operation: 'close', remedy })
}

/** True if another push cannot help: the store has the conflict already, or can never hold some entries. */
function isFinal(error: unknown): boolean {
  return isWorkspaceError(error, 'ECONFLICT') || isWorkspaceError(error, 'ENOTSUP')
}

/** Refuses a name that the store cannot hold, before the name exists on the disk. */
function checkName(path: MountPath, operation: string, capabilities: AdapterCapabilities): void {
  const { maxNameBytes, maxPathBytes, controlCharacters } = capabilities
  const refuse = (code: 'EINVAL' | 'ENAMETOOLONG', reason: string): never => {
    throw new WorkspaceError({ code, operation, path, reason, remedy: 'choose another name' })
  }
  if (Buffer.byteLength(paths.baseName(path)) > maxNameBytes)
    refuse('ENAMETOOLONG', 'has a name that is too long for the store')
  if (Buffer.byteLength(path) > maxPathBytes) refuse('ENAMETOOLONG', 'is too long for the store')
  // eslint-disable-next-line no-control-regex -- these are the characters that some stores refuse
  if (!controlCharacters && /[\u0001-\u001f\u007f]/u.test(path))
    refuse('EINVAL', 'has a control character, which the store cannot hold')
}

async function verify({ disk, tree, limits }: Site, { signal }: SignalOption): Promise<ReplicaVerification> {
  signal?.throwIfAborted()
  const found = new Map(await disk.ask('hashes'))
  const agreed = [...tree.base.values()].filter(
    ({ type, path }) => type !== 'directory' && !isBelowName(path, limits.rebuild),
  )
  const lines = agreed.map(({ path, content, target }) => `${path}\0${content ?? target ?? ''}\n`).sort()
  const known = new Set(agreed.map(({ path }) => path))
  const differing = [
    ...agreed.filter(({ path, content, target }) => found.get(path) !== (content ?? target)).map(({ path }) => path),
    ...[...found.keys()].filter((path) => !known.has(path)),
  ]
  return {
    files: agreed.length,
    bytes: agreed.reduce((sum, { size }) => sum + size, 0),
    digest: hash('sha256', lines.join(''), 'base64url'),
    differing: differing.sort() as MountPath[],
  }
}
