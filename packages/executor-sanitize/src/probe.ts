import type { VirtualPath } from '@ws/core'
import { type BindPlan, getNativeCause, type HostPath, type ProbeReport, shortageOf } from '@ws/core/executor'
import { createTemporaryDirectory, removeTree } from '@ws/process'
import { type ConfinedProbe, type ConfinedTarget, probeLandlock, unavailable } from '@ws/sandbox'
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { attachSanitize } from './attach.ts'
import { guaranteesOf, neededAbi } from './guarantees.ts'
import type { ResolvedOptions } from './options.ts'

/** The machine's abilities that commands run with. */
export interface Machine {
  /** 0: without Landlock. */
  readonly landlockAbi: number
}

type Probed = ConfinedProbe<Machine>

/** Finds out what works here by running it: a command in a scratch workspace. */
export async function probeSanitize(target: ConfinedTarget, options: ResolvedOptions): Promise<Probed> {
  if (process.platform !== 'linux')
    return unavailable('it runs on Linux only', 'use an executor over the file API (`@ws/executor-virtual`)')
  if (!existsSync('/usr/bin/perl')) return unavailable('perl is not installed', 'apt-get install perl-base')
  const landlock = options.landlock === 'off' ? undefined : await probeLandlock()
  const abi = landlock?.available === true ? landlock.abi : 0
  let problem: string | undefined
  for (const landlockAbi of abi > 0 ? [abi, 0] : [0]) {
    problem = await tryOut(target, options, landlockAbi)
    if (problem !== undefined) continue
    const details = {
      landlock:
        landlockAbi > 0
          ? `ABI ${landlockAbi}`
          : `not used${landlock?.reason === undefined ? '' : `: ${landlock.reason}`}`,
    }
    return {
      machine: { landlockAbi },
      report: {
        available: true,
        guarantees: guaranteesOf(landlockAbi),
        ...missing(landlockAbi, options),
        details,
      },
    }
  }
  return unavailable(`it does not work here (${problem})`, 'run a command as the workspace’s owner to see why')
}

/** It works without; but then nothing at all is held, and that is worth saying. */
function missing(landlockAbi: number, { landlock }: ResolvedOptions): Pick<ProbeReport, 'missing' | 'howToFix'> {
  if (landlockAbi >= neededAbi || landlock === 'off') return { missing: [], howToFix: [] }
  return {
    missing: [landlockAbi > 0 ? `Landlock is too old (ABI ${landlockAbi})` : 'Landlock is not available'],
    howToFix: [
      'use a kernel from 6.2 on with Landlock (`lsm=landlock,…`), or an executor with a view (bubblewrap, proot)',
    ],
  }
}

/** Landlock must not be left out because this machine runs short of something at the moment. */
function refuseShortage(error: unknown): void {
  if (shortageOf(error) !== undefined) throw error
}

const token = 'workspace'

/** @returns what went wrong, or `undefined` */
async function tryOut(
  { root, owner }: ConfinedTarget,
  options: ResolvedOptions,
  landlockAbi: number,
): Promise<string | undefined> {
  const directory = createTemporaryDirectory('ws-sanitize-')
  const attached = attachSanitize({ options: { ...options, limits: undefined }, root, owner, landlockAbi })
  try {
    chmodSync(directory, 0o755)
    writeFileSync(join(directory, 'probe'), token, { mode: 0o644 })
    if (process.getuid?.() === 0) chownSync(directory, owner.uid, owner.gid)
    const at = root === '/' ? '' : root
    const request = {
      command: `cat ${at}/probe && id -u && pwd`,
      cwd: root,
      env: {},
      login: false,
      timeout: 10_000,
      killGrace: 500,
      maxOutputBytes: 4096,
    }
    const running = await attached.spawn(request, planFor(root, directory as HostPath))
    const result = await running.wait()
    if (result.stdout === `${token}${owner.uid}\n${root}\n`) return undefined
    refuseShortage(new Error(result.stderr))
    return result.timedOut ? 'it does not answer' : (result.stderr.split('\n')[0] ?? '') || 'its answer is wrong'
  } catch (error) {
    refuseShortage(error)
    const native = getNativeCause(error)
    if (native instanceof Error && native.message !== '') return native.message.replaceAll(/\S*ws-sanitize-\S*/g, '…')
    return error instanceof Error ? error.message : String(error)
  } finally {
    await attached.close()
    removeTree(directory)
  }
}

function planFor(root: VirtualPath, source: HostPath): BindPlan {
  const mount = { kind: 'mount', at: root, type: 'directory', source, access: 'read-write', rules: [] } as const
  return { root, binds: [mount], aliases: [], restrictions: [], renameBorders: [] }
}
