import { createHash } from 'node:crypto'
import type { S3Client } from '@aws-sdk/client-s3'
import { isWorkspaceError } from '@ws/core'
import { rewriteError, signals } from '@ws/core/adapter'
import { translate } from '../client/failures.ts'
import type { Requests } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { KeySpace } from '../keys/key-space.ts'
import { makeReservedName } from '../keys/names.ts'
import type { S3AdapterOptions } from '../options.ts'
import type { Store } from '../store/store.ts'
import { Asker } from './asker.ts'
import { leastDialect, type S3Dialect, type StartFacts, type UploadFacts } from '../dialect.ts'
import { probeUploads } from './probe-uploads.ts'
import { probeStart } from './probe.ts'

const uploadNames: readonly (keyof S3Dialect)[] = ['conditionalComplete', 'checksums'] satisfies (keyof UploadFacts)[]
const startNames = (Object.keys(leastDialect) as (keyof S3Dialect)[]).filter((name) => !uploadNames.includes(name))

export async function factsFor(
  requests: Requests,
  options: S3AdapterOptions,
): Promise<Pick<Store, 'dialect' | 'uploadFacts'>> {
  const { dialect: given = {}, readOnly = false } = options
  const asks = (names: readonly (keyof S3Dialect)[]) => !readOnly && names.some((name) => given[name] === undefined)
  const known = keptFor(options)
  const least = { ...leastDialect, ...given }
  const dialect = asks(startNames) ? { ...(await known.start(requests)), ...given } : least
  const uploadFacts: Store['uploadFacts'] = async ({ operation, path, signal }) => {
    if (!asks(uploadNames)) return least
    const asked = known.uploads(requests).catch((error: unknown) => {
      throw isWorkspaceError(error, 'ECLOSED') ? failure('ECLOSED', operation, path) : error // the probe's error names the root
    })
    return { ...(await (signal === undefined ? asked : signals.orAbort(asked, signal))), ...given }
  }
  return { dialect, uploadFacts }
}

/** One server's answers about one bucket. Each question is sent once. */
export interface Known {
  readonly start: (requests: Requests) => Promise<StartFacts>
  readonly uploads: (requests: Requests) => Promise<UploadFacts>
}

/** Answers that this process has received from servers, by client or endpoint. */
const keptByClient = new WeakMap<S3Client, Map<string, Known>>()
const keptByEndpoint = new Map<string, Known>()

function keptFor(options: S3AdapterOptions): Known {
  let kept = keptByEndpoint
  let key = options.bucket
  if (options.client === undefined) {
    const { endpoint, region, credentials, bucket } = options
    // a function may return other credentials, which lead to other refusals
    if (typeof credentials === 'function') return asking(options)
    const named = JSON.stringify([endpoint, region, bucket, credentials])
    key = createHash('sha256').update(named).digest('base64')
  } else {
    kept = keptByClient.get(options.client) ?? new Map()
    keptByClient.set(options.client, kept)
  }
  const known = kept.get(key) ?? asking(options)
  kept.set(key, known)
  return known
}

/** Probes the server again, without cached answers. */
export function asking({ bucket, prefix }: S3AdapterOptions): Known {
  const asker = (requests: Requests): Asker => {
    const task = { operation: 'createS3Adapter', path: '/', until: requests.begin() }
    const key = new KeySpace({ prefix }).prefix + makeReservedName('probe')
    return new Asker(requests, { bucket, key, task })
  }
  const start = (one: Asker): Promise<StartFacts> =>
    probeStart(one).catch((error: unknown) => {
      throw explained(error)
    })
  return { start: once(asker, start), uploads: once(asker, probeUploads) }
}

/** Explains a failure of the store: the caller could also pass `dialect`. */
function explained(error: unknown): unknown {
  const failed = translate(error, 'createS3Adapter', '/')
  if (!isWorkspaceError(failed, 'EIO') && !isWorkspaceError(failed, 'ETIMEDOUT')) return failed
  const reason = `${failed.reason}, when it was asked which conditions it honours`
  return rewriteError(failed, { reason, remedy: `${failed.remedy}; if it stays so, pass the answers as \`dialect\`` })
}

/** Probes once. After a failure, each caller probes again. Uncertain answers are given to waiting callers only. */
function once<Facts>(
  make: (requests: Requests) => Asker,
  probe: (asker: Asker) => Promise<Facts>,
): (requests: Requests) => Promise<Facts> {
  let asked: Promise<Facts> | undefined
  const ask = async (requests: Requests): Promise<Facts> => {
    const asker = make(requests)
    try {
      const facts = await probe(asker)
      if (!asker.isCertain) asked = undefined
      return facts
    } catch (error) {
      asked = undefined
      throw error
    }
  }
  return async (requests) => {
    const answer = await asked?.catch(() => undefined) // asked again below
    if (answer !== undefined) return answer
    asked ??= ask(requests)
    return asked
  }
}
