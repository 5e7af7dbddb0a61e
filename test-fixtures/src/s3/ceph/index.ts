import { randomBytes } from 'node:crypto'
import { join } from 'node:path'

import { CreateBucketCommand } from '@aws-sdk/client-s3'

import { createTiedDirectory } from '../directory.ts'
import { findFreePorts } from '../ports.ts'
import { createServer, randomCredentials, type S3Credentials, type S3Server } from '../server.ts'
import { startCluster } from './cluster.ts'
import type { Gateway } from './gateway.ts'
import { logTails } from './programs.ts'

export interface CephServerOptions {
  /** Default: random credentials. */
  readonly credentials?: S3Credentials
  /** Milliseconds for the start. Default 60,000; it takes about two seconds. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

/** Ceph's S3 gateway over a store in memory. */
export interface CephServer extends S3Server {
  readonly gateway: Gateway
}

/** Attempts to start, each with other ports. */
const attempts = 5

/** Errors after which a retry may succeed: a taken port, or a crash of a Ceph program, which is rare for `radosgw-admin` 16. */
const mayStartNextTime = /address already in use|Caught signal \((?:Segmentation fault|Aborted)\)/iu

/** Starts Ceph without privileges, until this process ends: monitor, store in memory, gateway. Errors contain the end of the logs. */
export async function startCephServer(options: CephServerOptions = {}): Promise<CephServer> {
  const { credentials = randomCredentials(), timeout = 60_000 } = options
  const deadline = AbortSignal.timeout(timeout)
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal])
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryStart(credentials, signal)
    } catch (error) {
      const passing = error instanceof Error && mayStartNextTime.test(error.message)
      if (!passing || attempt === attempts || signal.aborted) throw error
    }
  }
}

async function tryStart(credentials: S3Credentials, signal: AbortSignal): Promise<CephServer> {
  const directory = await createTiedDirectory('ws-ceph-')
  try {
    const [monitorPort = 0, gatewayPort = 0] = await findFreePorts(2)
    const plan = { directory: directory.path, monitorPort, gatewayPort }
    const cluster = await startCluster(plan, credentials, signal)
    const connection = {
      name: 'ceph',
      endpoint: `http://127.0.0.1:${gatewayPort}`,
      region: 'us-east-1',
      credentials,
      bucket: newBucketName(),
    } as const
    const server = createServer(connection, {
      async createBucket() {
        const Bucket = newBucketName()
        await owner.send(new CreateBucketCommand({ Bucket }))
        return Bucket
      },
      async close() {
        await cluster.close()
        await directory.remove()
      },
    })
    const owner = server.client()
    try {
      // proves that the gateway is this one: no other process knows the credentials
      await owner.send(new CreateBucketCommand({ Bucket: server.bucket }), { abortSignal: signal })
    } catch (error) {
      await cluster.close()
      throw error
    }
    return Object.assign(server, { gateway: cluster.gateway })
  } catch (error) {
    const tails = await logTails(join(directory.path, 'log'))
    await directory.remove()
    throw new Error(`Ceph did not start: ${String(error)}\n${tails}`, { cause: error })
  }
}

const newBucketName = (): string => `bucket-${randomBytes(6).toString('hex')}`
