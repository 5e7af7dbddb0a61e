import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { CreateBucketCommand } from '@aws-sdk/client-s3'

import { swiftEnvironment } from '../../components.ts'
import { createGateway } from '../ceph/gateway.ts'
import { logTails, startDaemon } from '../ceph/programs.ts'
import { createTiedDirectory } from '../directory.ts'
import { findFreePorts } from '../ports.ts'
import { createServer, randomCredentials, type S3Server } from '../server.ts'

const program = fileURLToPath(new URL('serve.py', import.meta.url))
const startTimeout = 60_000

/** Starts OpenStack Swift's S3 API in one process. Needs extended attributes below the temporary directory. */
export async function startSwiftServer(): Promise<S3Server> {
  const directory = await createTiedDirectory('ws-swift-')
  const signal = AbortSignal.timeout(startTimeout)
  const [port = 0] = await findFreePorts(1)
  const account = `a${randomBytes(8).toString('hex')}`
  const { secretAccessKey } = randomCredentials()
  const endpoint = `http://127.0.0.1:${port}`
  const args = ['-B', program, directory.path, String(port), account, secretAccessKey]
  const logs = join(directory.path, 'log')
  await mkdir(logs)
  const gateway = createGateway(endpoint, () => startDaemon('python3', args, join(logs, 'swift.log'), swiftEnvironment))
  const credentials = { accessKeyId: `${account}:tests`, secretAccessKey }
  const connection = { name: 'swift', endpoint, region: 'us-east-1', credentials, bucket: newBucketName() } as const
  const server = createServer(connection, {
    async createBucket() {
      const Bucket = newBucketName()
      await owner.send(new CreateBucketCommand({ Bucket }))
      return Bucket
    },
    async close() {
      await gateway.kill()
      await directory.remove()
    },
  })
  const owner = server.client()
  try {
    await gateway.start({ signal })
    // proves that the server is this one: no other process knows the credentials
    await owner.send(new CreateBucketCommand({ Bucket: server.bucket }), { abortSignal: signal })
    return server
  } catch (error) {
    const tails = await logTails(logs)
    await server.close()
    throw new Error(`Swift did not start: ${String(error)}\n${tails}`, { cause: error })
  }
}

const newBucketName = (): string => `bucket-${randomBytes(6).toString('hex')}`
