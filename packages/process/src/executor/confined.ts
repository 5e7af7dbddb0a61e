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

/** For whom something is probed. */
export interface ConfinedTarget {
  readonly root: VirtualPath
  /** Never uid 0. */
  readonly owner: Owner
}

/** What was found. */
export interface ConfinedProbe<Machine> {
  readonly report: ProbeReport
  /** What commands are run with; absent where it is not available. */
  readonly machine?: Machine | undefined
}

export interface ConfinedExecutorOptions<Machine> {
  readonly name: string
  /** Runs the real thing once. Rejects for an abort only. */
  readonly probe: (
    target: ConfinedTarget & { readonly signal: AbortSignal | undefined },
  ) => Promise<ConfinedProbe<Machine>>
  readonly attach: (target: ConfinedTarget, machine: Machine) => AttachedExecutor
  readonly createScratch: (options: { readonly owner?: Owner | undefined }) => Promise<StorageAdapter>
}

/** As root and not told otherwise, probes run as this one. */
const ordinary: Owner = { uid: 1000, gid: 1000 }

/** An executor of processes that are confined one by one, as the workspace's owner: probed once for each target. */
export function createConfinedExecutor<Machine>(options: ConfinedExecutorOptions<Machine>): Executor {
  const probed = new Map<string, Promise<ConfinedProbe<Machine>>>()

  async function probe(target: ConfinedTarget, signal: AbortSignal | undefined): Promise<ConfinedProbe<Machine>> {
    signal?.throwIfAborted()
    const key = `${target.root} ${target.owner.uid}:${target.owner.gid}`
    const known = probed.get(key)
    if (known !== undefined) return known
    const probing = options.probe({ ...target, signal })
    probed.set(key, probing)
    // An aborted probe has no result.
    probing.catch(() => probed.delete(key))
    return probing
  }

  return {
    name: options.name,
    kind: 'process',
    async probe({ root = rootPath, owner = currentOwner(), signal }: ProbeTarget = {}) {
      return (await probe({ root, owner }, signal)).report
    },
    async attach({ root, owner }: WorkspaceView) {
      const target: ConfinedTarget = { root, owner: checkOwner(owner) }
      const { report, machine } = await probe(target, undefined)
      if (machine !== undefined) return options.attach(target, machine)
      throw new WorkspaceError({
        code: 'ENOEXECUTOR',
        operation: 'attach',
        reason: report.missing.join('; '),
        remedy: report.howToFix.join('; '),
      })
    },
    createScratch: (scratch) => options.createScratch(scratch),
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
