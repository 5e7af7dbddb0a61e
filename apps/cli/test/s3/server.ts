import type { S3Server, S3ServerName } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect } from 'vitest'

import { ws, type Ended, type WsOptions } from '../ws.ts'

export interface Bucket {
  readonly server: S3Server
  /** The environment that `ws` gets: where the store is, and the credentials. */
  readonly env: Readonly<Record<string, string>>
  /** Runs `ws` on this part of the bucket. No output of any run ever holds a credential. */
  run(prefix: string, args: readonly string[], options?: WsOptions): Promise<Ended>
  /** Runs `ws` with no workspace named but in `args`. */
  ws(args: readonly string[], options?: WsOptions): Promise<Ended>
}

/** A bucket of the test file's own, used as a person at a shell would use it. */
export async function openBucket(name: S3ServerName): Promise<Bucket> {
  const server = await sharedS3Server(name)
  const { accessKeyId, secretAccessKey } = server.credentials
  const env = {
    AWS_ENDPOINT_URL_S3: server.endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    // no machine in a cloud must lend its role to what has no credentials
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  const run = async (args: readonly string[], options: WsOptions = {}): Promise<Ended> => {
    const ended = await ws(args, { ...options, env: { ...env, ...options.env } })
    for (const secret of [accessKeyId, secretAccessKey]) {
      expect(ended.stdout, 'standard output').not.toContain(secret)
      expect(ended.stderr, 'standard error').not.toContain(secret)
    }
    return ended
  }
  return {
    server,
    env,
    run: (prefix, args, options) => run(['--s3', `${server.bucket}/${prefix}`, ...args], options),
    ws: run,
  }
}
