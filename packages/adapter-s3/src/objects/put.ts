import { PutObjectCommand, type PutObjectCommandInput } from '@aws-sdk/client-s3'
import type { Condition, MountPath, WriteResult } from '@ws/core'
import { createHash } from 'node:crypto'
import { nativeAttemptsOf } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { answeredVersion } from '../keys/etag.ts'
import type { Store } from '../store.ts'
import { conditionHeaders, findOwnWrite, identify, isRefusal, supersededError } from './conditional.ts'
import { writeMetadata } from './metadata.ts'

/** What is put in one piece. */
export interface PutBody {
  readonly bytes: number
  /** Called for each attempt. */
  readonly open: () => NonNullable<PutObjectCommandInput['Body']>
  /** For bodies that are not signed: base64. */
  readonly md5?: string | undefined
  /** For the version of a write whose answer was lost. */
  readonly digest: () => string
}

export interface PutOptions {
  readonly key: string
  readonly condition?: Condition | undefined
  readonly mode?: number | undefined
  readonly modifiedAt?: number | undefined
  readonly contentType?: string | undefined
}

export function bytesBody(bytes: Uint8Array): PutBody {
  return {
    bytes: bytes.length,
    open: () => bytes,
    digest: () => createHash('md5').update(bytes).digest('hex'),
  }
}

/** One PUT: the old content or the new, nothing between. A condition is checked by the server. */
export async function putObject(store: Store, body: PutBody, options: PutOptions, task: Task): Promise<WriteResult> {
  const { key, condition, mode, modifiedAt = Date.now(), contentType } = options
  const identity = identify(store, key, condition)
  const headers = conditionHeaders(store, condition, task)
  const metadata = writeMetadata({ modifiedAt, mode, writes: identity.writes })
  const result = await store.requests
    .run(
      task,
      async ({ client, abortSignal, repeated }) => {
        const command = new PutObjectCommand({
          Bucket: store.bucket,
          Key: key,
          Body: body.open(),
          ContentLength: body.bytes,
          Metadata: metadata,
          ...(body.md5 === undefined ? {} : { ContentMD5: body.md5 }),
          ...(contentType === undefined ? {} : { ContentType: contentType }),
          ...headers,
        })
        try {
          return answeredVersion((await client.send(command, { abortSignal })).ETag)
        } catch (error) {
          // also at the first attempt: a client of the caller's may have retried by itself
          if (condition === undefined || !isRefusal(error)) throw error
          const isRepeated = repeated || nativeAttemptsOf(error) > 1
          const own = await findOwnWrite(store, key, identity, task, isRepeated)
          if (own === undefined) throw error
          const version = own.version ?? (store.dialect.md5Etags ? body.digest() : undefined)
          if (version === undefined) throw supersededError(task)
          return version
        }
      },
      body.bytes,
    )
    .catch((error: unknown) => {
      throw condition !== undefined && isRefusal(error) ? failure('ECONFLICT', task.operation, task.path) : error
    })
  store.history.note(key, result, identity.writes)
  return { version: result, size: body.bytes }
}

/** A marker, a link: what is no file of somebody. */
export async function putSmall(
  store: Store,
  path: MountPath,
  key: string,
  { text = '', condition }: { readonly text?: string; readonly condition?: Condition | undefined },
  task: Task,
): Promise<WriteResult> {
  return putObject(store, bytesBody(Buffer.from(text)), { key, condition }, { ...task, path })
}
