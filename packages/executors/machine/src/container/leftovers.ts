import { readFileSync, readlinkSync } from 'node:fs'

import type { Engine } from './engine/client.ts'

const label = 'dev.ws.owner'

/** Labels that name the process that a container belongs to. */
export function ownLabels(): Readonly<Record<string, string>> {
  return { [label]: ownerOf(process.pid) ?? '' }
}

/** Names a process of this boot, namespace and user: other machines and users can share an engine. */
function ownerOf(pid: number): string | undefined {
  const startTime = startTimeOf(pid)
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  const namespace = readlinkSync('/proc/self/ns/pid')
  return startTime === undefined ? undefined : [boot, namespace, process.getuid?.(), pid, startTime].join(' ')
}

function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined // it has ended
  }
}

interface Listed {
  readonly Id: string
  readonly Labels?: Readonly<Record<string, string>>
}

/** Removes the containers of processes of this user that have ended. Never rejects: the next start tries again. */
export async function removeLeftovers(engine: Engine): Promise<void> {
  const query = encodeURIComponent(JSON.stringify({ label: [label] }))
  const own = ownerOf(process.pid)?.split(' ')
  const listed = await engine.call<readonly Listed[]>('GET', `/containers/json?all=1&filters=${query}`).catch(() => [])
  for (const { Id, Labels = {} } of listed) {
    const [boot, namespace, uid, pid] = (Labels[label] ?? '').split(' ')
    if (own === undefined || boot !== own[0] || namespace !== own[1] || uid !== own[2]) continue // @defence a container of another user or machine: are removed when
    if (ownerOf(Number(pid)) !== Labels[label])
      await engine.call('DELETE', `/containers/${Id}?force=1&v=1`).catch(() => undefined) // gone already, or tried again later
  }
}
