import {
  type AttachedExecutor,
  type Executor,
  type Owner,
  type ProbeReport,
  type ProbeTarget,
  rootPath,
  type StorageAdapter,
  type VirtualPath,
  WorkspaceError,
  type WorkspaceView,
} from '@ws/core'

import { attachProot } from './attach.ts'
import { type ProotExecutorOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { type Probed, probeProot } from './probe.ts'
import { sweepRuntimeDirectories } from './runtime-directory.ts'

/**
 * Runs commands in proot: a **view, not a boundary**. Works without user namespaces, where bubblewrap does not. What is
 * really held depends on the machine, above all on Landlock: ask `probe()`.
 *
 * @throws WorkspaceError `EINVAL` for options without a meaning.
 */
export function createProotExecutor(options: ProotExecutorOptions = {}): Executor {
  return new ProotExecutor(resolveOptions(options))
}

/** As root and not told otherwise, probes run as this one. */
const ordinary: Owner = { uid: 1000, gid: 1000 }

class ProotExecutor implements Executor {
  readonly name = 'proot'
  readonly kind = 'process'
  readonly #options: ResolvedOptions
  readonly #probed = new Map<string, Promise<Probed>>()

  constructor(options: ResolvedOptions) {
    this.#options = options
  }

  async probe(target: ProbeTarget = {}): Promise<ProbeReport> {
    const { report } = await this.#probe(target.root ?? rootPath, target.owner ?? currentOwner(), target.signal)
    return report
  }

  async attach(view: WorkspaceView): Promise<AttachedExecutor> {
    const owner = checkOwner(view.owner)
    const { report, machine } = await this.#probe(view.root, owner, undefined)
    if (machine === undefined) {
      throw new WorkspaceError({
        code: 'ENOEXECUTOR',
        operation: 'attach',
        reason: report.missing.join('; '),
        remedy: report.howToFix.join('; '),
      })
    }
    sweepRuntimeDirectories()
    return attachProot({ machine, options: this.#options, root: view.root, owner })
  }

  async createScratch(options: { readonly owner?: Owner | undefined } = {}): Promise<StorageAdapter> {
    // Only here, so that who never needs it does not load an adapter.
    const { createScratchAdapter } = await import('@ws/adapter-local')
    return createScratchAdapter({ owner: options.owner })
  }

  async #probe(root: VirtualPath, owner: Owner, signal: AbortSignal | undefined): Promise<Probed> {
    signal?.throwIfAborted()
    const key = `${root} ${owner.uid}:${owner.gid}`
    const known = this.#probed.get(key)
    if (known !== undefined) return known
    const probing = probeProot({ root, owner, options: this.#options, signal })
    this.#probed.set(key, probing)
    // An aborted probe has no result.
    probing.catch(() => this.#probed.delete(key))
    return probing
  }
}

function currentOwner(): Owner {
  const uid = process.getuid?.() ?? ordinary.uid
  return uid === 0 ? ordinary : { uid, gid: process.getgid?.() ?? ordinary.gid }
}

function checkOwner(owner: Owner | undefined): Owner {
  const refuse = (reason: string, remedy: string): never => {
    throw new WorkspaceError({ code: 'EINVAL', operation: 'attach', reason, remedy })
  }
  const remedy = 'let the workspace’s directory belong to an ordinary user, or give the local adapter an `owner`'
  if (owner === undefined) return refuse('nobody is known whom commands could run as', remedy)
  if (owner.uid === 0) return refuse('commands never run as uid 0', remedy)
  const own = process.getuid?.()
  if (own !== 0 && own !== owner.uid) {
    return refuse(`commands would run as uid ${owner.uid}, which takes root`, 'run as that user, or own the directory')
  }
  return owner
}
