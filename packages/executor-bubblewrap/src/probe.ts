import { type Guarantees, isWorkspaceError, getNativeCause, rootPath } from '@ws/core'
import {
  attachCgroup,
  type ConfinedProbe,
  type ConfinedTarget,
  type DelegatedCgroup,
  KeptContents,
  sandboxProgram,
  systemTree,
  unavailable,
  viewEnvironment,
} from '@ws/process'

import { explainFailure } from './failure.ts'
import { layOut, type Layout } from './layout.ts'
import { heldLimits } from './limits.ts'
import type { ResolvedOptions } from './options.ts'
import { findPrograms, type Programs } from './programs.ts'
import { startSandbox } from './sandbox.ts'
import { openSources } from './sources.ts'

/** What bubblewrap holds: everything that a kernel can; nothing of what only the file API can judge. */
export function heldGuarantees({ network, unixSockets }: Pick<ResolvedOptions, 'network' | 'unixSockets'>): Guarantees {
  // Abstract Unix sockets belong to the network namespace: a command that shares it can reach those of the host.
  const shared = network === 'host' ? 'none' : 'kernel'
  return {
    fileContent: 'kernel',
    fileMetadata: 'kernel',
    sockets: unixSockets === 'none' ? 'kernel' : shared,
    network: shared,
    processes: 'kernel',
    readOnlyMounts: 'kernel',
    subtrees: 'kernel',
    deniedSubtrees: 'kernel',
    apiRules: 'none',
  }
}

/** Runs `true` in a sandbox, just as a command would be. Never rejects for what is missing. */
export async function probeBubblewrap(
  target: ConfinedTarget,
  options: ResolvedOptions,
): Promise<ConfinedProbe<Programs>> {
  const nested = target.root === '/'
  const { versions, bwrap, proot } = await findPrograms()
  const details = { ...versions, mode: nested ? 'bubblewrap with proot inside' : 'bubblewrap' }
  if (bwrap === undefined) return unavailable('bubblewrap is not installed', 'apt-get install bubblewrap', details)
  if (nested && proot === undefined) return unavailable('proot is not installed', 'apt-get install proot', details)
  const programs = { bwrap, proot }
  let cgroup: DelegatedCgroup | undefined
  try {
    cgroup = attachCgroup(options.cgroup)
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return unavailable(error.reason, error.remedy, details)
  }
  try {
    await runOnce(target, options, programs, cgroup)
  } catch (error) {
    const { reason, remedy } = describe(error)
    return unavailable(reason, remedy, details)
  }
  const limits = heldLimits(bwrap, options.cgroup !== undefined)
  const report = { available: true, guarantees: heldGuarantees(options), missing: [], howToFix: [], details, limits }
  return { machine: programs, report }
}

function describe(error: unknown): { readonly reason: string; readonly remedy?: string | undefined } {
  if (isWorkspaceError(error, 'EUNENFORCEABLE') || isWorkspaceError(error, 'ENOEXECUTOR')) return error
  const native = getNativeCause(error)
  if (native instanceof Error) return explainFailure(native.message)
  return isWorkspaceError(error) ? error : { reason: 'a sandbox could not be started' }
}

function nothingProtected(): never {
  throw new Error('a probe protects nothing')
}

async function runOnce(
  { root, owner }: ConfinedTarget,
  options: ResolvedOptions,
  { bwrap, proot }: Programs,
  cgroup: DelegatedCgroup | undefined,
): Promise<void> {
  const nested = root === '/'
  const empty = layOut({ root, binds: [], aliases: [], restrictions: [], renameBorders: [] })
  const layout: Layout = nested ? { ...empty, mode: 'nested' } : empty
  using sources = await openSources([])
  using contents = new KeptContents()
  const sandbox = await startSandbox({
    command: {
      layout,
      sources,
      reserved: new Map(),
      system: systemTree({ root, owner, network: options.network === 'host' }),
      argv: ['/bin/true'],
      env: viewEnvironment({ root }),
      cwd: rootPath,
      extraFds: new Map(),
      seccomp: sandboxProgram({ allowPtrace: nested, forProot: nested, interprocess: true }),
      contents,
      network: options.network,
      scratchBytes: options.scratchBytes,
      limits: options.limits,
      cgroup,
      tools: [],
      bwrap,
      proot,
    },
    owner,
    // One process that waits, once, if this one is killed meanwhile.
    warden: { starting: () => () => undefined, close: () => undefined },
    keeper: nothingProtected,
    stdin: 'none',
    maxOutputBytes: 4096,
  })
  const { stderr } = await sandbox.process.wait()
  await sandbox.gone
  if (sandbox.exitCode() !== 0) throw new Error(stderr.text)
}
