import { closeSync } from 'node:fs'
import { chown } from 'node:fs/promises'

import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { type Bind, type BindPlan, getNativeCause, type HostPath, type ProbeReport, shortages } from '@ws/core/executor'
import {
  type ConfinedTarget,
  howToInstall,
  Limits,
  type Probed,
  Reserve,
  systemTree,
  Temporary,
  unavailable,
} from '@ws/sandbox'

import { makeDirectoryForAll, makeEtcDirectory } from '../view/etc-directory.ts'
import { explainFailure } from '../bwrap/failure.ts'
import type { SandboxCommand } from '../bwrap/arguments.ts'
import { hidingProblem } from '../hide/hide.ts'
import { KeptContents } from '../bwrap/kept-contents.ts'
import { type LayoutMode, layOut } from '../view/layout.ts'
import { heldLimits } from '../limits.ts'
import type { ResolvedOptions } from '../options.ts'
import { NetworkHolder } from '../loopback/holder.ts'
import { nameResolution, probedNetwork } from '../network/named-network.ts'
import { findPrograms, type Programs } from '../programs.ts'
import { type Attempt, commandOf, emptyPlan, noGuard, type Run } from './probe-command.ts'
import { directProblem, mountedNames, pointNames, translationCost, wantedPoints } from '../view/root-form.ts'
import { noProcess } from '../run/port.ts'
import type { SandboxStart } from '../run/sandbox.ts'
import { startSandbox } from '../start/start.ts'
import { openSources } from '../view/sources.ts'
import { WarmPool } from '../warm/pool.ts'

/** Runs a program in a sandbox as for a command, with each allowed form of root until one works. Never rejects for missing parts. */
export async function probeBubblewrap(target: ConfinedTarget, options: ResolvedOptions): Promise<Probed<Programs>> {
  const { versions, bwrap, proot } = await findPrograms()
  if (bwrap === undefined) return unavailable('bubblewrap is not installed', howToInstall('bubblewrap'), versions)
  let cgroup: Limits.DelegatedCgroup | undefined
  try {
    cgroup = Limits.attachCgroup(options.cgroup)
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return unavailable(error.reason, error.remedy, versions)
  }
  const attempt = { target, options, programs: { bwrap, proot }, cgroup }
  const available = (mode: LayoutMode, more: ProbeReport['details'] = {}): Probed<Programs> => {
    const limits = heldLimits(bwrap, options.cgroup !== undefined)
    const details = { ...versions, mode: modeNames[mode], ...more, ...leftNames() }
    return { found: { bwrap, proot, direct: mode === 'direct' }, details, limits }
  }
  if (target.root !== '/') {
    const problem = await problemOf(() => runBelow(attempt, 'below'))
    if (problem !== undefined) return unavailable(problem.reason, problem.remedy, versions)
    return available('below')
  }
  const direct = options.root === 'translated' ? undefined : await problemOf(() => runDirect(attempt))
  if (options.root !== 'translated' && direct === undefined) return available('direct', { root: 'direct' })
  if (options.root === 'direct') return unavailable(direct?.reason ?? '', direct?.remedy, versions)
  const why = direct && { 'not direct': direct.reason, cost: translationCost }
  const more = { root: 'translated', ...why }
  const translated =
    proot === undefined
      ? { reason: 'proot is not installed', remedy: howToInstall('proot') }
      : await problemOf(() => runBelow(attempt, 'translated'))
  if (translated === undefined) return available('translated', more)
  return unavailable(translated.reason, translated.remedy, { ...versions, ...why })
}

/** Tries a warm start, and describes the result in a sentence. */
export async function describeWarm(
  target: ConfinedTarget,
  programs: Programs,
  options: ResolvedOptions,
): Promise<NonNullable<ProbeReport['details']>> {
  if (!options.warm) return { warm: 'not used: `warm` is false' }
  if (options.cgroup !== undefined) return { warm: 'not used: each command has a control group of its own' }
  const isDirect = target.root === '/' && programs.direct === true
  if (target.root === '/' && !isDirect) return { warm: 'not used: the root is translated' }
  const attempt = { target, options, programs, cgroup: undefined }
  const pool = new WarmPool({ owner: target.owner, guard: () => noGuard })
  try {
    await (isDirect ? runDirect(attempt, pool) : runBelow(attempt, 'below', pool))
    const { problem } = pool
    return { warm: problem === undefined ? 'used for all commands but the first' : `not used: ${problem}` }
  } catch (error) {
    if (shortages.of(error) !== undefined) throw error
    return { warm: `not used: ${explained(error).reason}` }
  } finally {
    await pool.close()
  }
}

/** Reports reserved names that cannot be removed because their directory became read-only, by its mode or by a mount. */
function leftNames(): ProbeReport['details'] {
  const left = Reserve.reservedNames.left()
  if (left.length === 0) return {}
  const shown = left.slice(0, 5).join(', ') + (left.length > 5 ? ` and ${left.length - 5} more` : '')
  return { 'reserved names left': `${shown}; make the directory writable, and the next command removes them` }
}

const modeNames: Readonly<Record<LayoutMode, string>> = {
  below: 'bubblewrap',
  direct: "bubblewrap, the workspace's directory as the root",
  translated: 'bubblewrap with proot inside',
}

async function problemOf(run: () => Promise<void>): Promise<Problem | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    // The result is cached for the life of this process, so a result under a shortage must not be returned.
    if (shortages.of(error) !== undefined) throw error
    return explained(error)
  }
}

interface Problem {
  readonly reason: string
  readonly remedy?: string | undefined
}

function explained(error: unknown): Problem {
  if (isWorkspaceError(error, 'EUNENFORCEABLE') || isWorkspaceError(error, 'ENOEXECUTOR')) return error
  const native = getNativeCause(error)
  if (native instanceof Error) return explainFailure(native.message)
  return isWorkspaceError(error) ? error : { reason: 'a sandbox could not be started' }
}

function nothingProtected(): never {
  throw new Error('a probe protects nothing')
}

async function runBelow(attempt: Attempt, mode: LayoutMode, warm?: WarmPool): Promise<void> {
  using sources = await openSources([])
  const { root, owner } = attempt.target
  const system = systemTree({ root, owner, ...nameResolution(attempt.options.network) })
  const run = { layout: layOut(emptyPlan, mode), sources, system, argv: ['/bin/true'] }
  await runOnce(attempt, run, { keeper: nothingProtected, warm })
}

/** Tries a directory as the root, also at an alias, with names that listings must omit. */
async function runDirect(attempt: Attempt, warm?: WarmPool): Promise<void> {
  const hiding = hidingProblem()
  if (hiding !== undefined) throw new WorkspaceError({ code: 'EUNENFORCEABLE', operation: 'probe', ...hiding })
  const { owner } = attempt.target
  await using directory = await createRoot(owner)
  const source = directory.path
  const bind: Bind = { kind: 'mount', at: paths.root, type: 'directory', source, access: 'read-write', rules: [] }
  const plan: BindPlan = { ...emptyPlan, binds: [bind], aliases: [paths.parseVirtual('/workspace')] }
  const system = systemTree({ root: paths.root, owner, ...nameResolution(attempt.options.network) })
  const mounted = mountedNames(plan, system)
  const names = pointNames(plan, mounted)
  const problem = directProblem(plan)
  if (problem !== undefined) throw new WorkspaceError({ code: 'EUNENFORCEABLE', operation: 'probe', ...problem })
  const keeper = Reserve.useNameKeeper()
  const etc = makeEtcDirectory(system)
  try {
    const held = await keeper.reserve(wantedPoints(plan, names), owner)
    try {
      const layout = layOut(plan, 'direct', mounted)
      using sources = await openSources(layout.placements)
      const hidden = { identity: sources.identity(source) ?? '', names }
      const argv = ['/bin/sh', '-c', 'set -- /* /workspace/*; test "$*" = "/* /workspace/*"']
      const direct = { etc: etc.fd, hidden }
      const run = { layout, sources, system, argv, direct, reserved: held.identities }
      await runOnce(attempt, run, { keeper: () => keeper, warm })
    } finally {
      await held.release()
    }
  } finally {
    etc.close()
    keeper.close()
  }
}

async function createRoot(owner: Owner): Promise<{ readonly path: HostPath } & AsyncDisposable> {
  const path = makeDirectoryForAll() as HostPath
  if (process.getuid?.() === 0) await chown(path, owner.uid, owner.gid)
  return { path, [Symbol.asyncDispose]: async () => Temporary.removeTree(path) }
}

/** Holds a network as for a command, so that the probe finds failures. */
async function probedPlace({
  options: { network, loopback },
  programs: { bwrap },
  target: { owner },
}: Attempt): Promise<Pick<SandboxCommand, 'network'> & AsyncDisposable> {
  const isOwn = loopback === 'command'
  const holder = network === 'host' || isOwn ? undefined : await NetworkHolder.start({ bwrap, owner, guard: noGuard })
  const place = holder?.place ?? (network === 'host' ? network : 'none')
  return { network: place, [Symbol.asyncDispose]: async () => holder?.close() }
}

async function runOnce(
  attempt: Attempt,
  run: Run,
  { keeper, warm }: { readonly keeper: () => Reserve.NameKeeper; readonly warm: WarmPool | undefined },
): Promise<void> {
  const isTranslated = run.layout.mode === 'translated'
  using contents = new KeptContents()
  // without temporary files, no sandbox starts: that reason comes before those of the network
  closeSync(contents.keep(new Uint8Array()).reopen())
  await using place = await probedPlace(attempt)
  const held = typeof place.network === 'object' ? place.network : undefined
  await using network = probedNetwork(attempt.options.network, held)
  const start: SandboxStart = {
    command: commandOf(attempt, { ...run, network: place.network }, contents),
    owner: attempt.target.owner,
    guard: noGuard,
    keeper,
    network,
  }
  const sandbox = await startSandbox(start, warm)
  const { stderr } = await sandbox.process.wait()
  await sandbox.gone
  await sandbox.watch?.end()
  if (sandbox.unstarted()) throw noProcess()
  const exitCode = sandbox.exitCode()
  if (exitCode === 0) return
  // Exit code 1 means that the test failed; any other code means that the test did not run.
  if (isTranslated || run.direct === undefined || exitCode !== 1) throw new Error(stderr?.text)
  throw new WorkspaceError({
    code: 'EUNENFORCEABLE',
    operation: 'probe',
    reason: 'names were seen at `/` that are reserved for the system',
    remedy: 'use Linux 5.9 or later, which lets a directory be listed without some names',
  })
}
