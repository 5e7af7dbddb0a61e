import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createAuthority } from '@ws/network/gate'

import { type Measurement, type Way, compare, own } from './measure.ts'
import { type Site, openSite } from './site.ts'

const name = 'origin.test'
const MiB = 2 ** 20
const large = 200 * MiB
const packages = Array.from({ length: 200 }, (_, index) => `package-${index}`)

/**
 * The cost of the network by name against the network of the machine: a command that uses none, small requests of one program,
 * 200 MiB, and an install of 200 packages. The same servers on the loopback answer all.
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
  const registry = createRegistry()
  const [port, plainPort] = [await listen(server), await listen(registry)]
  const listed = {
    allow: [name],
    addresses: ['127.0.0.1'],
    resolve: async (_: string, asked: number) => [{ address: '127.0.0.1', port: asked === 443 ? port : plainPort }],
    authorities: [authority.certificate],
  }
  const at = '/workspace'
  await using host = await openSite({ at, executors: [createBubblewrapExecutor({ network: 'host' })] })
  await using named = await openSite({ at, executors: [createBubblewrapExecutor({ network: listed })] })
  const requests = {
    [name]: [
      // over http nothing can be put in
      { match: { path: '/package*' } },
      { match: { path: '/*.tgz' } },
      { transform: { headers: { authorization: 'Bearer x' } } },
    ],
  }
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
      {
        title: 'an install of 200 packages by `npm`',
        onHost: install(`http://127.0.0.1:${plainPort}/`),
        inside: install(`http://${name}/`),
        target: 1.5,
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
    for (const one of [server, registry]) {
      one.closeAllConnections()
      one.close()
    }
  }
}

async function listen(server: Pick<Server, 'listen' | 'address'>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Every package has the same content: it is the requests that count. */
function createRegistry(): Server {
  const directory = mkdtempSync(join(tmpdir(), 'ws-bench-'))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'package', version: '1.0.0' }))
  execFileSync('tar', ['-czf', 'all.tgz', '--transform', 's,^,package/,', 'package.json'], { cwd: directory })
  const tarball = readFileSync(join(directory, 'all.tgz'))
  rmSync(directory, { recursive: true })
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  return createHttpServer(({ url = '', headers }, response) => {
    if (url.endsWith('.tgz')) return void response.end(tarball)
    const asked = url.slice(1)
    const dist = { tarball: `http://${headers.host}/${asked}.tgz`, integrity }
    response.setHeader('content-type', 'application/json')
    const versions = { '1.0.0': { name: asked, version: '1.0.0', dist } }
    response.end(JSON.stringify({ name: asked, 'dist-tags': { latest: '1.0.0' }, versions }))
  })
}

function install(registry: string): string {
  const manifest = JSON.stringify({ dependencies: Object.fromEntries(packages.map((one) => [one, '1.0.0'])) })
  return [
    'rm -rf node_modules package-lock.json .npm',
    `printf %s '${manifest}' > package.json`,
    `npm install --registry ${registry} --cache "$PWD/.npm" --no-audit --no-fund --loglevel=error >&2`,
    'test $(ls node_modules | wc -l) = 200',
  ].join(' && ')
}

function by({ workspace }: Site, command: string): Way['run'] {
  return async () => {
    const { exitCode, stderr } = await workspace.exec(command, { shell: '/bin/sh', login: false })
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
  }
}
