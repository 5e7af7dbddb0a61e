import type { ProbeReport } from '@ws/core/executor'
import { type ConfinedTarget, howToInstall, Landlock, type Probed, type TryOut, unavailable } from '@ws/sandbox'
import { existsSync } from 'node:fs'

import { type Machine, neededAbi } from './guarantees.ts'
import type { ResolvedOptions } from './options.ts'

/** Runs a test command in a temporary workspace. */
export async function probeSanitize(
  { root, owner }: ConfinedTarget,
  options: ResolvedOptions,
  tryOut: TryOut<Machine, ResolvedOptions>,
): Promise<Probed<Machine>> {
  if (!existsSync('/usr/bin/perl')) return unavailable('perl is not installed', howToInstall('perl-base'))
  const landlock = options.landlock === 'off' ? undefined : await Landlock.probeLandlock()
  const abi = landlock?.available === true ? landlock.abi : 0
  const command = `cat ${root === '/' ? '' : root}/probe && id -u && pwd`
  const isRight = (output: string) => output === `workspace${owner.uid}\n${root}\n`
  let problem: string | undefined
  for (const landlockAbi of abi > 0 ? [abi, 0] : [0]) {
    const trying = { ...options, limits: undefined, trust: new Set(['id']) }
    ;({ problem } = await tryOut({ landlockAbi }, command, { isRight, options: trying }))
    if (problem !== undefined) continue
    const why = landlock?.reason === undefined ? '' : `: ${landlock.reason}`
    const details = { landlock: landlockAbi > 0 ? `ABI ${landlockAbi}` : `not used${why}` }
    return { found: { landlockAbi }, ...missing(landlockAbi, options), details }
  }
  return unavailable(`it does not work here (${problem})`, 'run a command as the workspace’s owner to see why')
}

/** Reports missing Landlock. It is optional, but without it no mechanism confines commands. */
function missing(landlockAbi: number, { landlock }: ResolvedOptions): Pick<ProbeReport, 'missing' | 'howToFix'> {
  if (landlockAbi >= neededAbi || landlock === 'off') return { missing: [], howToFix: [] }
  return {
    missing: [landlockAbi > 0 ? `Landlock is too old (ABI ${landlockAbi})` : 'Landlock is not available'],
    howToFix: [
      'use a kernel from 6.2 on with Landlock (`lsm=landlock,…`), or an executor with a view (bubblewrap, proot)',
    ],
  }
}
