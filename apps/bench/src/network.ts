import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createAuthority } from '@ws/network/gate'

import { type Measurement, type Way, compare, own } from './measure.ts'
import { type Site, openSite } from './site.ts'

const name = 'origin.test'
const MiB = 2 ** 20
const large = 200 * MiB

/**
 * The cost of the network by name against the network of the machine: a command that uses none, small requests of one program,
 * and 200 MiB. The same server on the loopback answers all.
 */
export async function measureNetwork(report: (measurement: Measurement) => void): Promise<void> {
  const authority = await createAuthority([{ name }])
  const chunk = Buffer.alloc(MiB, 'x')
  const server = createServer(
    { SNICallback: (_, done) => done(null, authority.contextFor(name)) },
    (request, response) => {
      if (request.url !== '/large') return void response.end('small\n')
      let left = large / MiB
      const send = (): void => {
        while (left > 0) {
          left -= 1
          if (!response.write(chunk)) return void response.once('drain', send)
        }
        response.end()
      }
      send()
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const listed = {
    allow: [name],
    addresses: ['127.0.0.1'],
    resolve: async () => [{ address: '127.0.0.1', port }],
    authorities: [authority.certificate],
  }
  const at = '/workspace'
  await using host = await openSite({ at, executors: [createBubblewrapExecutor({ network: 'host' })] })
  await using named = await openSite({ at, executors: [createBubblewrapExecutor({ network: listed })] })
  const requests = { [name]: [{ transform: { headers: { authorization: 'Bearer x' } } }] }
  await using judged = await openSite({
    at,
    executors: [createBubblewrapExecutor({ network: { ...listed, requests } })],
  })
  try {
    const local = `curl -sSfk --http1.1 --resolve ${name}:${port}:127.0.0.1`
    const remote = `curl -sSfk --http1.1`
    const tasks = [
      { title: '`true`', onHost: 'true', inside: 'true', target: 1.1 },
      {
        title: '20 small requests by `curl`',
        onHost: `for i in $(seq 20); do ${local} https://${name}:${port}/; done`,
        inside: `for i in $(seq 20); do ${remote} https://${name}/; done`,
        target: 1.5,
      },
      {
        title: '200 MiB by `curl`',
        onHost: `${local} -o /dev/null https://${name}:${port}/large`,
        inside: `${remote} -o /dev/null https://${name}/large`,
        target: 2,
      },
    ]
    for (const { title, onHost, inside, target } of tasks) {
      const reference = { name: 'network of the machine', run: by(host, onHost) }
      const ways = [
        { name: own, run: by(named, inside) },
        { name: 'decrypted', run: by(judged, inside) },
      ]
      report(
        await compare('network', { name: title, reference, ways, count: 1, target, budget: 20_000, maxRounds: 20 }),
      )
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

function by({ workspace }: Site, command: string): Way['run'] {
  return async () => {
    const { exitCode, stderr } = await workspace.exec(command, { shell: '/bin/sh', login: false })
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
  }
}
