import {
  type Guarantees,
  isWorkspaceError,
  getNativeCause,
  noGuarantees,
  type Owner,
  type ProbeReport,
  type ProbeTarget,
  rootPath,
  type VirtualPath,
} from '@ws/core'
import {
  attachCgroup,
  type DelegatedCgroup,
  KeptContents,
  sandboxProgram,
  systemTree,
  viewEnvironment,
} from '@ws/process'

import { explainFailure } from './failure.ts'
import { layOut, type Layout } from './layout.ts'
import { heldLimits } from './limits.ts'
import type { ResolvedOptions } from './options.ts'
import { resolveOwner } from './owner.ts'
import { findPrograms, type FoundPrograms } from './programs.ts'
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

/** Whom to probe as when nobody was named: as root, anybody but root. */
const unprivileged: Owner = { uid: 1000, gid: 1000 }

/** Runs `true` in a sandbox, just as a command would be. Never rejects for what is missing; `signal.reason` on abort. */
export async function probe(options: ResolvedOptions, target: ProbeTarget): Promise<ProbeReport> {
  const root = target.root ?? rootPath
  const nested = root === '/'
  const programs = await findPrograms({ versions: true, signal: target.signal })
  const details = { ...programs.versions, mode: nested ? 'bubblewrap with proot inside' : 'bubblewrap' }
  const unavailable = (missing: string, fix: string | undefined): ProbeReport => ({
    available: false,
    guarantees: noGuarantees,
    missing: [missing],
    howToFix: fix === undefined ? [] : [fix],
    details,
  })
  let owner: Owner
  let cgroup: DelegatedCgroup | undefined
  try {
    owner = resolveOwner(target.owner ?? (process.getuid?.() === 0 ? unprivileged : undefined), 'probe')
    cgroup = attachCgroup(options.cgroup)
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return unavailable(error.reason, error.remedy)
  }
  const absent = missingPrograms(programs, nested)
  if (absent.length > 0) {
    const report = unavailable('', undefined)
    return {
      ...report,
      missing: absent.map(({ name }) => `${name} is not installed`),
      howToFix: absent.map(({ name }) => `apt-get install ${name}`),
    }
  }
  try {
    await runOnce(options, { root, owner, programs, cgroup, signal: target.signal })
  } catch (error) {
    target.signal?.throwIfAborted()
    const { reason, remedy } = describe(error)
    return unavailable(reason, remedy)
  }
  const limits = heldLimits(programs.bwrap, options.cgroup !== undefined)
  return { available: true, guarantees: heldGuarantees(options), missing: [], howToFix: [], details, limits }
}

function missingPrograms({ bwrap, proot }: FoundPrograms, nested: boolean): { readonly name: string }[] {
  return [
    ...(bwrap === undefined ? [{ name: 'bubblewrap' }] : []),
    ...(nested && proot === undefined ? [{ name: 'proot' }] : []),
  ]
}

function describe(error: unknown): { readonly reason: string; readonly remedy?: string | undefined } {
  if (isWorkspaceError(error, 'EUNENFORCEABLE')) return error
  const native = getNativeCause(error)
  if (native instanceof Error) return explainFailure(native.message)
  return isWorkspaceError(error) ? error : { reason: 'a sandbox could not be started' }
}

interface Run {
  readonly root: VirtualPath
  readonly owner: Owner
  readonly programs: FoundPrograms
  readonly cgroup: DelegatedCgroup | undefined
  readonly signal: AbortSignal | undefined
}

async function runOnce(options: ResolvedOptions, { root, owner, programs, cgroup, signal }: Run): Promise<void> {
  const { bwrap = '', proot } = programs
  const nested = root === '/'
  const empty = layOut({ root, binds: [], aliases: [], restrictions: [], renameBorders: [] })
  const layout: Layout = nested ? { ...empty, mode: 'nested' } : empty
  using sources = await openSources([])
  using contents = new KeptContents()
  const sandbox = await startSandbox({
    command: {
      layout,
      sources,
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
    stdin: 'none',
    maxOutputBytes: 4096,
    signal,
  })
  const { stderr } = await sandbox.process.wait()
  await sandbox.gone
  if (sandbox.exitCode() !== 0) throw new Error(stderr.text)
}
