import { isWorkspaceError, type VirtualPath } from '@ws/core'
import {
  type AttachedExecutor,
  type BindPlan,
  getNativeCause,
  type HostPath,
  type ProbeDetails,
  shortageOf,
} from '@ws/core/executor'
import { findProgram, startProcess } from '@ws/process'
import {
  attachCgroup,
  cgroupRemedy,
  type ConfinedProbe,
  type ConfinedTarget,
  type DelegatedCgroup,
  probeLandlock,
  unavailable,
} from '@ws/sandbox'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { attachProot, type Machine } from './attach.ts'
import { namespacePrefix } from './command-line.ts'
import { guaranteesOf } from './guarantees.ts'
import { heldLimits } from './limits.ts'
import { extractLoader } from './loader-image.ts'
import type { ResolvedOptions } from './options.ts'
import { createRuntimeDirectory, removeTree } from './runtime-directory.ts'
import { countStops, stoppedCallsOf } from './stopped-calls.ts'
import { createOwnedDirectory } from './system.ts'

type Probed = ConfinedProbe<Machine>

/** Finds out what works here by running it: a command in a scratch workspace, with the strongest confinement first. */
export async function probeProot(target: ConfinedTarget, options: ResolvedOptions): Promise<Probed> {
  const found = await findProgram('proot', { versionArguments: null })
  if (found === undefined) return unavailable('proot is not installed', 'apt-get install proot')
  if (!existsSync('/usr/bin/perl')) return unavailable('perl is not installed', 'apt-get install perl-base')
  const program = readFileSync(found.path)
  const loader = extractLoader(program)
  if (loader === undefined)
    return unavailable('this proot carries no loader that can be used', 'install the one of your distribution')
  let cgroup: DelegatedCgroup | undefined
  try {
    cgroup = attachCgroup(options.cgroup)
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return unavailable(error.reason, error.remedy ?? '')
  }
  const landlock = options.landlock === 'off' ? undefined : await probeLandlock()
  const namespaces = options.pidNamespace === 'auto' && (await namespaceWorks())
  const abi = landlock?.available === true ? landlock.abi : 0
  let problem = ''
  let remedy: string | undefined
  for (const confinement of alternatives(abi, namespaces)) {
    const machine: Machine = { proot: found.path, loader, ...confinement }
    const outcome = await tryOut(target, options, machine, cgroup)
    if (outcome.problem === undefined) {
      const { stoppedCalls } = outcome
      return available(machine, options, { proot: versionOf(program), stoppedCalls, noLandlock: landlock?.reason })
    }
    ;({ problem, remedy } = outcome)
  }
  return unavailable(`proot does not work here (${problem})`, remedy ?? remedyFor(problem))
}

function alternatives(landlockAbi: number, pidNamespace: boolean) {
  const all = [
    { landlockAbi, pidNamespace },
    { landlockAbi, pidNamespace: false },
    { landlockAbi: 0, pidNamespace },
    { landlockAbi: 0, pidNamespace: false },
  ]
  return all.filter(
    (one, index) =>
      all.findIndex((other) => other.landlockAbi === one.landlockAbi && other.pidNamespace === one.pidNamespace) ===
      index,
  )
}

interface Found {
  /** Its version. */
  readonly proot: string
  readonly stoppedCalls: StoppedCalls
  /** Why there is no Landlock, where that is known. */
  readonly noLandlock: string | undefined
}

function available(machine: Machine, options: ResolvedOptions, { noLandlock, ...found }: Found): Probed {
  const { landlockAbi, pidNamespace } = machine
  return {
    machine,
    report: {
      available: true,
      guarantees: guaranteesOf(machine),
      missing: [],
      howToFix: [],
      limits: heldLimits(machine, options.cgroup !== undefined),
      details: {
        ...found,
        landlock:
          landlockAbi > 0 ? `ABI ${landlockAbi}` : `not used${noLandlock === undefined ? '' : `: ${noLandlock}`}`,
        processes: pidNamespace ? 'PID namespace' : 'supervisor',
      },
    },
  }
}

/** `--version` prints its banner in drawn letters, so the version is read from the file. */
function versionOf(program: Buffer): string {
  return /\0v?(\d+\.\d+\.\d+)[^\0]{0,20}\0/.exec(program.toString('latin1'))?.[1] ?? 'unknown'
}

async function namespaceWorks(): Promise<boolean> {
  if (forbidsNamespaces()) return false
  try {
    const argv = [...namespacePrefix(), '/bin/true']
    const { exitCode, stderr } = await startProcess({ argv, timeout: 5_000 }).wait()
    if (exitCode !== 0) refuseShortage(new Error(stderr.text))
    return exitCode === 0
  } catch (error) {
    refuseShortage(error)
    return false
  }
}

/** A limit of 0 never passes, so it is no shortage. */
function forbidsNamespaces(): boolean {
  const kinds = ['pid', 'ipc', 'mnt', ...(process.getuid?.() === 0 ? [] : ['user'])]
  return kinds.some((kind) => {
    const path = `/proc/sys/user/max_${kind}_namespaces`
    return existsSync(path) && readFileSync(path, 'utf8').trim() === '0'
  })
}

/** A shortage passes: a weaker form must not be settled for. */
function refuseShortage(error: unknown): void {
  if (shortageOf(error) !== undefined) throw error
}

const token = 'workspace'

type StoppedCalls = NonNullable<ProbeDetails['stoppedCalls']>
/** The problem, or the findings of the probe. */
type Outcome =
  | { readonly problem: string; readonly remedy?: string | undefined }
  | { readonly problem?: undefined; readonly stoppedCalls: StoppedCalls }

async function tryOut(
  { root, owner }: ConfinedTarget,
  options: ResolvedOptions,
  machine: Machine,
  cgroup: DelegatedCgroup | undefined,
): Promise<Outcome> {
  const directory = createRuntimeDirectory()
  let attached: AttachedExecutor | undefined
  try {
    // Limits and tools are left out: attaching judges them.
    attached = attachProot({ machine, options: { ...options, limits: {}, tools: [] }, root, owner, cgroup })
    const source = createOwnedDirectory(join(directory, 'workspace'), owner)
    writeFileSync(join(source, 'probe'), token)
    chmodSync(join(source, 'probe'), 0o644)
    const running = await attached.spawn(
      {
        command: `read -r word < probe; echo "$word"; test -s "$PWD/probe" && id -u && ${countStops}`,
        cwd: root,
        env: {},
        login: false,
        shell: '/bin/sh',
        timeout: 10_000,
        killGrace: 500,
        maxOutputBytes: 4096,
      },
      planFor(root, source as HostPath),
    )
    const result = await running.wait()
    const [word, uid, stops = ''] = result.stdout.split('\n')
    if (word === token && uid === String(owner.uid) && /^\d+$/.test(stops)) {
      return { stoppedCalls: stoppedCallsOf(Number(stops)) }
    }
    refuseShortage(new Error(result.stderr))
    return { problem: result.timedOut ? 'it does not answer' : firstLine(result.stderr) || 'its answer is wrong' }
  } catch (error) {
    refuseShortage(error)
    if (isWorkspaceError(error, 'ENOEXECUTOR')) return { problem: error.reason, remedy: error.remedy }
    const native = getNativeCause(error)
    if (native instanceof Error && native.message !== '') return { problem: firstLine(native.message) }
    return { problem: error instanceof Error ? error.message : String(error) }
  } finally {
    await attached?.close()
    removeTree(directory)
  }
}

function planFor(root: VirtualPath, source: HostPath): BindPlan {
  const mount = { kind: 'mount', at: root, type: 'directory', source, access: 'read-write', rules: [] } as const
  return { root, binds: [mount], aliases: [], restrictions: [], renameBorders: [] }
}

/** proot's own complaint, without its private paths. */
function firstLine(text: string): string {
  const lines = text.split('\n')
  return (lines.find((line) => line.includes('proot error')) ?? lines[0] ?? '').replaceAll(/\S*ws-proot-\S*/g, '…')
}

function remedyFor(problem: string): string {
  if (problem.includes('control group')) return cgroupRemedy
  if (/ptrace|not permitted/i.test(problem)) {
    return 'let processes trace their children: in a container `--cap-add SYS_PTRACE` or a seccomp profile that allows ptrace, and kernel.yama.ptrace_scope below 3'
  }
  return 'run `proot -r / /bin/true` as the workspace’s owner to see why'
}
