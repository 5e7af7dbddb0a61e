import { GetObjectCommand } from '@aws-sdk/client-s3'
import type { ByteRange } from '@ws/core'
import type { Readable } from 'node:stream'
import type { Attempt } from '../client/requests.ts'
import { DamagedBodyError } from '../client/retry.ts'
import { answeredVersion } from '../keys/etag.ts'
import type { Store } from '../store.ts'
import { stateOf, type ObjectState } from './stat.ts'

/** An answer to GET, whose body has yet to come. */
export interface OpenObject {
  readonly state: ObjectState
  /** Bytes that are to come. */
  readonly expected: number
  readonly body: Readable
}

/** One GET. @throws the SDK's error, a 416 for a range behind the end included. */
export async function getObject(
  { bucket }: Store,
  key: string,
  { client, abortSignal }: Attempt,
  range?: ByteRange,
): Promise<OpenObject> {
  const { offset = 0, length } = range ?? {}
  const whole = offset === 0 && length === undefined
  const header = whole ? {} : { Range: `bytes=${offset}-${length === undefined ? '' : offset + length - 1}` }
  const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, ...header }), { abortSignal })
  const body = answer.Body as unknown as Readable
  const state = stateOf(answer)
  answeredVersion(answer.ETag)
  const expected = Math.max(0, Math.min(state.stat.size - offset, length ?? Number.POSITIVE_INFINITY))
  if (answer.ContentLength !== undefined && answer.ContentLength !== expected) {
    discard(body)
    throw new DamagedBodyError(`${answer.ContentLength} bytes were announced instead of ${expected}`)
  }
  return { state, expected, body }
}

/** Ends a body that nobody wants any more. */
export function discard(body: Readable): void {
  body.on('error', () => undefined)
  body.destroy()
}
