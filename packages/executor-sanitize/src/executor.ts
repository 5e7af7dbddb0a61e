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

import { attachSanitize } from './attach.ts'
import { type SanitizeExecutorOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { type Probed, probeSanitize } from './probe.ts'

/**
 * Runs **trusted** commands directly, with their paths mapped: the explicit last resort, where there is neither bubblewrap
 * nor proot. No view, and no boundary but Landlock where there is Landlock. What it cannot prove to stay inside, and to do
 * here what it does in a view, it refuses with the reason.
 *
 * @throws WorkspaceError `EINVAL` for options without a meaning.
 */
export function createSanitizeExecutor(options: SanitizeExecutorOptions = {}): Executor {
  return new SanitizeExecutor(resolveOptions(options))
}

/** As root and not told otherwise, probes run as this one. */
const ordinary: Owner = { uid: 1000, gid: 1000 }

class SanitizeExecutor implements Executor {
  readonly name = 'sanitize'
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
    const { report, landlockAbi } = await this.#probe(view.root, owner, undefined)
    if (landlockAbi === undefined) {
      throw new WorkspaceError({
        code: 'ENOEXECUTOR',
        operation: 'attach',
        reason: report.missing.join('; '),
        remedy: report.howToFix.join('; '),
      })
    }
    return attachSanitize({ options: this.#options, root: view.root, owner, landlockAbi })
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
    const probing = probeSanitize({ root, owner, options: this.#options, signal })
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
