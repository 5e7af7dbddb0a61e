import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { S3Credentials } from '../server.ts'
import { clusterConfig, clusterId, clusterKeyring, type ClusterPlan } from './config.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { runProgram, startDaemon, type Daemon } from './programs.ts'

export interface Cluster {
  readonly gateway: Gateway
  close(): Promise<void>
}

export async function startCluster(plan: ClusterPlan, user: S3Credentials, signal: AbortSignal): Promise<Cluster> {
  const { directory, monitorPort, gatewayPort } = plan
  const fsid = clusterId()
  const osd = clusterId()
  const conf = join(directory, 'ceph.conf')
  const keyring = join(directory, 'keyring')
  for (const name of ['mon', 'osd', 'rgw', 'run', 'log', 'crash']) await mkdir(join(directory, name))
  await writeFile(conf, clusterConfig(plan, fsid))
  await writeFile(keyring, clusterKeyring(), { mode: 0o600 })

  // if one part fails, the other parts must stop waiting
  const failure = new AbortController()
  const watch = AbortSignal.any([signal, failure.signal])
  const daemons: Daemon[] = []
  const run = (program: string, ...args: string[]) => runProgram(program, ['-c', conf, ...args], watch)
  const start = async (program: string, ...args: string[]) => {
    const log = join(directory, 'log', `${program}.out`)
    const daemon = await startDaemon(program, ['-c', conf, ...args, '-f'], log)
    daemons.push(daemon)
    void daemon.exited.then((how) => failure.abort(new Error(how)))
    return daemon
  }
  const gateway = createGateway(`http://127.0.0.1:${gatewayPort}`, () =>
    startDaemon(
      'radosgw',
      ['-c', conf, '-n', 'client.rgw', '--no-mon-config', '-f'],
      join(directory, 'log', 'radosgw.out'),
    ),
  )
  const close = async () => {
    await Promise.all([gateway.kill(), ...daemons.map((daemon) => daemon.kill('SIGKILL'))])
  }

  const makeMonitor = async () => {
    const address = `[v2:127.0.0.1:${monitorPort}]`
    const monmap = join(directory, 'monmap')
    const making = ['--create', '--clobber', '--fsid', fsid, '--addv', 'a', address, '--enable-all-features', monmap]
    await runProgram('monmaptool', making, watch)
    await run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', monmap, '--keyring', keyring)
    await start('ceph-mon', '-i', 'a', '--public-addrv', address)
    await run('ceph', '--connect-timeout', '30', 'osd', 'new', osd, '0')
  }
  const makeStore = () => run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd)
  const makeUser = () =>
    run(
      'radosgw-admin',
      ...['user', 'create', '--uid=test', '--display-name=test'],
      ...[`--access-key=${user.accessKeyId}`, `--secret-key=${user.secretAccessKey}`],
    )

  try {
    const parts = [makeMonitor(), makeStore()]
    try {
      await Promise.all(parts)
    } catch (error) {
      failure.abort(error)
      await Promise.allSettled(parts)
      throw error
    }
    await start('ceph-osd', '-i', '0', '--no-mon-config')
    await makeUser()
    await gateway.start({ signal: watch })
    return { gateway, close }
  } catch (error) {
    // read before `close` ends the other daemons, which counts as a failure too
    const reason: unknown = watch.aborted ? watch.reason : error
    await close()
    throw reason
  }
}
