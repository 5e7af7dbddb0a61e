import { shortages } from '@ws/core/executor'
import {
  type ConfinedTarget,
  findProgram,
  howToInstall,
  Landlock,
  type Probed,
  startProcess,
  type TryOut,
  unavailable,
} from '@ws/sandbox'
import { existsSync, readFileSync } from 'node:fs'

import { namespacePrefix } from './command-line.ts'
import type { Machine } from './guarantees.ts'
import { heldLimits } from './limits.ts'
import { extractLoader } from './loader-image.ts'
import type { ResolvedOptions } from './options.ts'
import { countStops, stoppedCallsOf } from './stopped-calls.ts'

/** Runs a test command in a temporary workspace. Tries the strongest confinement first. */
export async function probeProot(
  { owner }: ConfinedTarget,
  options: ResolvedOptions,
  tryOut: TryOut<Machine, ResolvedOptions>,
): Promise<Probed<Machine>> {
  const found = await findProgram('proot', { versionArguments: null })
  if (found === undefined) return unavailable('proot is not installed', howToInstall('proot'))
  if (!existsSync('/usr/bin/perl')) return unavailable('perl is not installed', howToInstall('perl-base'))
  const program = readFileSync(found.path)
  const loader = extractLoader(program)
  if (loader === undefined)
    return unavailable('this proot carries no loader that can be used', 'install the one of your distribution')
  const landlock = options.landlock === 'off' ? undefined : await Landlock.probeLandlock()
  const namespaces = options.pidNamespace === 'auto' && (await namespaceWorks())
  const abi = landlock?.available === true ? landlock.abi : 0
  const command = `read -r word < probe; echo "$word"; test -s "$PWD/probe" && id -u && ${countStops}`
  const isRight = (output: string) => new RegExp(`^workspace\\n${owner.uid}\\n\\d+\\n$`).test(output)
  // Without limits and tools, which `attach` checks.
  const more = { isRight, options: { ...options, limits: {}, tools: [] } }
  let problem = ''
  let remedy: string | undefined
  for (const confinement of alternatives(abi, namespaces)) {
    const machine: Machine = { proot: found.path, loader, ...confinement }
    const trial = await tryOut(machine, command, more)
    if (trial.problem === undefined) {
      const stoppedCalls = stoppedCallsOf(Number(trial.output.split('\n')[2]))
      const why = landlock?.reason === undefined ? '' : `: ${landlock.reason}`
      return {
        found: machine,
        limits: heldLimits(machine, options.cgroup !== undefined),
        details: {
          proot: versionOf(program),
          stoppedCalls,
          landlock: machine.landlockAbi > 0 ? `ABI ${machine.landlockAbi}` : `not used${why}`,
          processes: machine.pidNamespace ? 'PID namespace' : 'supervisor',
        },
      }
    }
    ;({ problem, remedy } = trial)
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

/** Reads the version from the program file, since `--version` prints a banner in ASCII art. */
function versionOf(program: Buffer): string {
  return /\0v?(\d+\.\d+\.\d+)[^\0]{0,20}\0/.exec(program.toString('latin1'))?.[1] ?? 'unknown'
}

async function namespaceWorks(): Promise<boolean> {
  if (forbidsNamespaces()) return false
  const argv = [...namespacePrefix(), '/bin/true']
  const failed = await (async () => {
    const { exitCode, stderr } = await startProcess({ argv, timeout: 5_000 }).wait()
    return exitCode === 0 ? undefined : new Error(stderr.text)
  })().catch((error: unknown) => error)
  // On a shortage, a weaker confinement must not replace the requested one.
  if (shortages.of(failed) !== undefined) throw failed
  return failed === undefined
}

/** Returns true if a limit of namespaces is 0. Such a limit is permanent, so it does not count as a shortage. */
function forbidsNamespaces(): boolean {
  const kinds = ['pid', 'ipc', 'mnt', ...(process.getuid?.() === 0 ? [] : ['user'])]
  return kinds.some((kind) => {
    const path = `/proc/sys/user/max_${kind}_namespaces`
    return existsSync(path) && readFileSync(path, 'utf8').trim() === '0'
  })
}

function remedyFor(problem: string): string {
  if (/ptrace|not permitted/i.test(problem)) {
    return 'let processes trace their children: in a container `--cap-add SYS_PTRACE` or a seccomp profile that allows ptrace, and kernel.yama.ptrace_scope below 3'
  }
  return 'run `proot -r / /bin/true` as the workspace’s owner to see why'
}
