import type { Owner } from '@ws/core/adapter'
import { readFileSync } from 'node:fs'

import { withSpareDescriptor } from '../run/room.ts'

export interface OwnerProblem {
  readonly reason: string
  readonly remedy: string
}

/** The user of root's probes. */
const ordinary: Owner = { uid: 1000, gid: 1000 }

/** Returns the user of a probe if no user is named. */
export function probingOwner(): Owner {
  const uid = process.getuid?.() ?? ordinary.uid
  return uid === 0 ? ordinary : { uid, gid: process.getgid?.() ?? ordinary.gid }
}

/** Returns why commands cannot run as the owner. Commands never run as uid 0: root could make setuid programs or devices for the host. */
export function findOwnerProblem({ uid, gid }: Owner): OwnerProblem | undefined {
  const remedy = 'give the root directory to an ordinary user, or pass `owner: { uid, gid }` to the local adapter'
  if (![uid, gid].every((id) => Number.isInteger(id) && id >= 0))
    return { reason: '`owner` must be two whole numbers, `{ uid, gid }`', remedy }
  if (uid === 0) return { reason: 'commands never run as root, and root owns the workspace', remedy } // @defence a setuid file or a device left for the host: never runs as root
  const own = process.getuid?.()
  if (own === 0) return findRootProblem({ uid, gid })
  if (own === uid) return undefined
  return {
    reason: `commands would run as uid ${uid}, and this process is uid ${own}`,
    remedy: 'run as the owner of the workspace, or give its directory to this user',
  }
}

/** Capabilities that root needs to become another user, prepare its files, and end and remove its leftovers. Docker grants all of these. */
const neededByRoot = { CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, KILL: 5, SETGID: 6, SETUID: 7 } as const

/** Finds problems of root in a container: root may lack the right to become another user, or the container has no other user. */
function findRootProblem({ uid, gid }: Owner): OwnerProblem | undefined {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(readOwn('status'))?.[1] ?? 'ffffffffff'}`)
  const missing = Object.entries(neededByRoot).flatMap(([name, bit]) => ((effective >> BigInt(bit)) & 1n ? [] : [name]))
  if (missing.length > 0) {
    return {
      reason: `this process is root without the capabilities to run commands as uid ${uid} (${missing.join(', ')})`,
      remedy: `in a container, run it as \`--user ${uid}:${gid}\`, or with ${missing.map((name) => `\`--cap-add ${name}\``).join(' ')}`,
    }
  }
  if (isMapped(uid, readOwn('uid_map')) && isMapped(gid, readOwn('gid_map'))) return undefined
  return {
    reason: `uid ${uid} or gid ${gid} does not exist in the user namespace of this process`,
    remedy: 'map more users into the container (`/etc/subuid`, `/etc/subgid`), or name an owner that it has',
  }
}

function readOwn(name: string): string {
  try {
    return withSpareDescriptor(() => readFileSync(`/proc/self/${name}`, 'latin1'))
  } catch {
    return ''
  }
}

/** `map`: lines with the first id inside, the first id outside, and a count. Without lines, the mapping is unknown. */
function isMapped(id: number, map: string): boolean {
  const ranges = map.split('\n').flatMap((line) => {
    const [first, , count] = line.trim().split(/\s+/).map(Number)
    return first === undefined || count === undefined ? [] : [{ first, count }]
  })
  return ranges.length === 0 || ranges.some(({ first, count }) => id >= first && id < first + count)
}
