import { randomBytes, randomUUID } from 'node:crypto'

export interface ClusterPlan {
  readonly directory: string
  readonly monitorPort: number
  readonly gatewayPort: number
}

/** The configuration of one monitor, one store in memory and one gateway, on the loopback. */
export function clusterConfig({ directory, monitorPort, gatewayPort }: ClusterPlan, fsid: string): string {
  const settings = {
    fsid,
    'mon initial members': 'a',
    'mon host': `v2:127.0.0.1:${monitorPort}/0`,
    'public addr': '127.0.0.1',
    'cluster addr': '127.0.0.1',
    'public network': '127.0.0.0/8',
    'cluster network': '127.0.0.0/8',
    'ms bind ipv4': true,
    'ms bind ipv6': false,
    // a port in use remains in use: try other ports immediately
    'ms bind retry count': 1,
    'ms bind retry delay': 0,
    // without authentication the cluster never comes up
    'auth cluster required': 'cephx',
    'auth service required': 'cephx',
    'auth client required': 'cephx',
    'auth allow insecure global id reclaim': false,
    keyring: `${directory}/keyring`,
    'run dir': `${directory}/run`,
    'crash dir': `${directory}/crash`,
    'admin socket': '', // its path would be too long for a socket below a deep temporary directory
    'log file': `${directory}/log/$name.log`,
    'mon cluster log file': `${directory}/log/cluster.log`,
    'mon data': `${directory}/mon`,
    'osd data': `${directory}/osd`,
    'rgw data': `${directory}/rgw`,
    'osd objectstore': 'memstore',
    'memstore device bytes': 8 * 2 ** 30,
    'osd pool default size': 1,
    'osd pool default min size': 1,
    'osd pool default pg num': 8,
    'osd pool default pgp num': 8,
    'osd pool default pg autoscale mode': 'off',
    'osd crush chooseleaf type': 0,
    'osd max object name len': 4096,
    'osd max object namespace len': 64,
    'osd op queue': 'wpq',
    'mon allow pool size one': true,
    'mon osd min in ratio': 0,
    'mon max pg per osd': 1000,
    // the store is in memory, so a full disk does not matter
    'mon data avail warn': 1,
    'mon data avail crit': 1,
    'paxos propose interval': 0.05,
    'mon tick interval': 1,
    // retry soon if the monitor does not listen yet, instead of after three seconds
    'mon client hunt interval': 0.2,
    // ask for the cluster map again soon while the store starts, instead of after five seconds
    'objecter tick interval': 0.5,
    'debug ms': 0,
    'debug rgw': 0,
    // without this option, each small answer waits 40 ms for the client's delayed acknowledgement
    'rgw frontends': `beast endpoint=127.0.0.1:${gatewayPort} tcp_nodelay=1`,
    'rgw thread pool size': 64,
    'rgw enable apis': 's3',
    'rgw s3 auth use keystone': false,
    'rgw enable usage log': false,
    'rgw enable ops log': false,
    'rgw dynamic resharding': false,
    // the store is memory: drop deleted objects without waiting two hours
    'rgw gc obj min wait': 30,
    'rgw gc processor period': 30,
    'rgw init timeout': 60,
  }
  return `[global]\n${Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')}`
}

/** A keyring with keys like those of `ceph-authtool --gen-key`, without four slow calls. */
export function clusterKeyring(): string {
  const capabilities = {
    'mon.': { mon: 'allow *' },
    'client.admin': { mon: 'allow *', osd: 'allow *', mgr: 'allow *' },
    'osd.0': { mon: 'allow profile osd', osd: 'allow *', mgr: 'allow profile osd' },
    'client.rgw': { mon: 'allow rw', osd: 'allow rwx' },
  }
  return Object.entries(capabilities)
    .map(([entity, allowed]) => {
      const lines = Object.entries(allowed).map(([service, what]) => `\tcaps ${service} = "${what}"\n`)
      return `[${entity}]\n\tkey = ${secretKey()}\n${lines.join('')}`
    })
    .join('')
}

export const clusterId = (): string => randomUUID()

/** A CryptoKey: type (1 is AES), time (seconds, nanoseconds), length of the secret, the secret. */
function secretKey(): string {
  const secret = randomBytes(16)
  const header = Buffer.alloc(12)
  header.writeUInt16LE(1, 0)
  header.writeUInt32LE(Math.floor(Date.now() / 1000), 2)
  header.writeUInt32LE(0, 6)
  header.writeUInt16LE(secret.length, 10)
  return Buffer.concat([header, secret]).toString('base64')
}
