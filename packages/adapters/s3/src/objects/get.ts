import { GetObjectCommand } from '@aws-sdk/client-s3'
import type { AdapterOptions } from '@ws/core/adapter'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Attempt } from '../client/requests.ts'
import { DamagedBodyError } from '../client/retry.ts'
import { answeredVersion } from '../keys/etag.ts'
import type { Store } from '../store/store.ts'
import { discard } from './discard.ts'
import { headOnce } from './lookup-real.ts'
import { stateOf, type ObjectState } from '../headers/stat.ts'

type ByteRange = AdapterOptions.Range

export interface OpenObject {
  readonly state: ObjectState
  readonly expected: number
  readonly body: Readable
}

/** Limit of a body with the ordinary time limit. */
const smallBytes = 1024 * 1024

/** Sends one GET. @throws the SDK's error, also a 416 for a range after the end */
export async function getObject(store: Store, key: string, attempt: Attempt, range?: ByteRange): Promise<OpenObject> {
  const { client, abortSignal } = attempt
  const { offset = 0, length } = range ?? {}
  const whole = offset === 0 && length === undefined
  const header = whole
    ? ({ ChecksumMode: 'ENABLED' } as const)
    : { Range: `bytes=${offset}-${length === undefined ? '' : offset + length - 1}` }
  const answer = await client.send(new GetObjectCommand({ Bucket: store.bucket, Key: key, ...header }), { abortSignal })
  const raw = answer.Body as unknown as Readable
  try {
    answeredVersion(answer.ETag)
    const packed = answer.ContentLength === undefined
    const state =
      packed && answer.ContentRange === undefined ? await measure(store, key, attempt, answer.ETag) : stateOf(answer)
    const expected = Math.max(0, Math.min(state.stat.size - offset, length ?? Number.POSITIVE_INFINITY))
    if (answer.ContentLength !== undefined && answer.ContentLength !== expected) {
      throw new DamagedBodyError(`${answer.ContentLength} bytes were announced instead of ${expected}`)
    }
    return { state, expected, body: packed && answer.ContentEncoding === 'gzip' ? unpack(raw) : raw }
  } catch (error) {
    discard(raw)
    throw error
  }
}

/** Reads a whole body into an array for the caller. */
export async function collect(
  { body, expected }: OpenObject,
  { abortSignal, alive }: Attempt,
  update: (chunk: Uint8Array) => void = () => undefined,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(expected)
  let filled = 0
  const end = (): void => discard(body)
  abortSignal.addEventListener('abort', end, { once: true })
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (filled + chunk.length > expected) throw new DamagedBodyError('more bytes came than were announced')
      bytes.set(chunk, filled)
      update(chunk)
      filled += chunk.length
      if (expected > smallBytes) alive()
    }
  } finally {
    abortSignal.removeEventListener('abort', end)
  }
  if (filled < expected) throw new DamagedBodyError(`${filled} of ${expected} bytes came`)
  return bytes
}

/** Finds the size with HEAD, for an answer without a length. */
async function measure(store: Store, key: string, attempt: Attempt, etag: string | undefined): Promise<ObjectState> {
  const state = await headOnce(store, key, attempt)
  if (state === undefined || state.headers.ETag !== etag) throw new DamagedBodyError('the object was changed meanwhile')
  return state
}

/** Decompresses a body, because some servers compress a compressed object again. */
function unpack(body: Readable): Readable {
  // errors of the body and of the decompression both reach the reader
  return pipeline(body, createGunzip(), () => undefined)
}
