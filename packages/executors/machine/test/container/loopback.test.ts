import { once } from 'node:events'
import { connect, createServer } from 'node:net'

import { until } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { loopbackOf } from '../../src/container/loopback/loopback.ts'
import { openLocal } from '../attendant/support.ts'

it('keeps no process for a connection that is reset before it is joined', async () => {
  await using local = openLocal()
  const { attendant } = local
  let joined = 0
  const server = createServer(() => void joined++).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  const published = await loopbackOf({ running: [{ attendant }] } as never).publish(port, { hostPort: 0 } as never)
  try {
    const outer = connect(published.port ?? 0, '127.0.0.1')
    await once(outer, 'connect')
    outer.resetAndDestroy()
    await until(() => attendant.commands > 0)
    await until(() => attendant.commands === 0)
    expect(joined).toBe(0)
  } finally {
    await published.close()
    server.close()
  }
})
