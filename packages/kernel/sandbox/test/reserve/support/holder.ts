import type { VirtualPath } from '@ws/core'
import type { MountPath, Owner } from '@ws/core/adapter'
import type { HostPath } from '@ws/core/executor'

import { useNameKeeper } from '../../../src/reserve/reserve.ts'

// Reserves names until its input ends.
const [root = '', owner = '', ...paths] = process.argv.slice(2)
const keeper = useNameKeeper()
const wanted = paths.map((path) => ({
  name: { root: root as HostPath, path: path as MountPath },
  at: path as VirtualPath,
}))
const held = await keeper.reserve(wanted, JSON.parse(owner) as Owner)
process.stdout.write(`held ${held.identities.size}\n`)
for await (const _chunk of process.stdin);
await held.release()
keeper.close()
