import { type Guarantees, noGuarantees } from '@ws/core/executor'
import { type ConfinedTarget, type Probed, type TryOut, unavailable } from '@ws/sandbox'

import type { FoundEngine } from './driver.ts'
import { Engine, EngineError } from './engine/client.ts'
import { engineError, unreachable } from './engine/failure.ts'
import { removeLeftovers } from './leftovers.ts'
import type { ResolvedOptions } from './options.ts'

interface Image {
  readonly Id: string
  readonly Os?: string
}

/** Shells that are looked for in an image, as `resolveShell` chooses among them. */
const shells = ['zsh', 'bash', 'sh', 'dash', 'ksh'].flatMap((name) => [`/bin/${name}`, `/usr/bin/${name}`])

/** Shows the rights of commands in a container, its network, root and first process: see {@link guaranteesOf}. */
const look = [
  'grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status',
  "sed -nE 's/^ *([a-z0-9]+):.*/net \\1/p' /proc/net/dev",
  '(: > /etc/ws-probe) 2>/dev/null && echo writable; cat probe; echo',
  `for one in ${shells.join(' ')}; do test -x $one && echo $one; done; tr "\\0" " " < /proc/1/cmdline | head -c 12`,
].join('; ')

/** Finds the engine and the image, and runs a command in a container. */
export async function probeContainer(
  { root }: ConfinedTarget,
  { engine: address, image, pull }: ResolvedOptions,
  tryOut: TryOut<FoundEngine, ResolvedOptions>,
): Promise<Probed<FoundEngine>> {
  if (process.platform !== 'linux')
    return unavailable(
      'on this system, container engines run in a virtual machine, which sees other files',
      'run on Linux',
    )
  if (root === '/') return unavailable('a container cannot have a mount at `/`', 'mount the workspace at `/workspace`')
  if ('reason' in address) return unavailable(address.reason, address.remedy)
  const engine = new Engine(address)
  try {
    await engine.call('GET', '/_ping')
    const { Id, Os } = await findImage(engine, image, pull)
    if (Os !== undefined && Os !== 'linux') return unavailable(`the image runs on ${Os}`, 'use an image for Linux')
    await removeLeftovers(engine)
    const nothing = { isBound: false, isWithoutRights: false, isWithoutNetwork: false, isAlone: false }
    const found = { engine, image: Id, shells: ['/bin/sh'], ...nothing }
    const trial = await tryOut(found, look)
    if (trial.problem !== undefined) return unavailable(trial.problem, trial.remedy)
    const lines = trial.output.split('\n')
    const has = (...wanted: readonly RegExp[]) => wanted.every((one) => lines.some((line) => one.test(line)))
    return {
      found: {
        ...found,
        shells: shells.filter((one) => lines.includes(one)),
        isBound: has(/^workspace$/) && !lines.includes('writable'),
        isWithoutRights: has(/^CapEff:\s*0+$/, /^CapBnd:\s*0+$/, /^NoNewPrivs:\s*1$/, /^Seccomp:\s*2$/),
        isWithoutNetwork: lines.every((line) => !/^net \w/.test(line) || line === 'net lo'),
        isAlone: has(/^ws-attendant/),
      },
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.status === undefined) throw unreachable(error)
    if (error.status === 404)
      return unavailable(
        `the engine does not have the image \`${image}\``,
        `pull it (\`docker pull ${image}\`), or pass \`pull: true\``,
      )
    throw engineError(error)
  }
}

/** @throws EngineError */
async function findImage(engine: Engine, image: string, pull: boolean): Promise<Image> {
  const path = `/images/${encodeURIComponent(image)}/json`
  try {
    return await engine.call<Image>('GET', path)
  } catch (error) {
    if (!pull || !(error instanceof EngineError) || error.status !== 404) throw error
    const named = /[:@][^/]*$/.test(image) ? image : `${image}:latest`
    await engine.call('POST', `/images/create?fromImage=${encodeURIComponent(named)}`)
    return await engine.call<Image>('GET', path)
  }
}

/**
 * The guarantees of a container. Each is claimed if a command there saw it. Mounts are compared with the plan in each container, before
 * it takes commands: one that the engine does not seal is refused.
 */
export function guaranteesOf({ isBound, isWithoutRights, isWithoutNetwork, isAlone }: FoundEngine): Guarantees {
  const files = isBound && isWithoutRights ? 'kernel' : 'none'
  const network = isWithoutNetwork && isWithoutRights ? 'kernel' : 'none'
  return {
    ...noGuarantees,
    ...{ fileContent: files, fileMetadata: files, readOnlyMounts: files, subtrees: files, deniedSubtrees: files },
    ...{ network, sockets: network, processes: isAlone && isWithoutRights ? 'kernel' : 'none' },
  }
}
