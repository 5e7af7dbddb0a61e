import { CopyObjectCommand } from '@aws-sdk/client-s3'
import { isWorkspaceError, type Version } from '@ws/core'
import type { Attempt, Fate, Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { answeredVersion, conditionOf } from '../keys/etag.ts'
import { copySource } from '../keys/key-space.ts'
import { attributeHeaders } from '../headers/attributes.ts'
import { conditionHeaders, conditionOn, identify, isRefusal, writesOn } from '../objects/conditional.ts'
import { changing } from '../objects/effects.ts'
import { headObject, headOnce } from '../objects/lookup-real.ts'
import { writeMetadata } from '../headers/metadata.ts'
import { findOutcome, unknownError } from '../objects/outcome.ts'
import { partBytesName } from '../objects/verify.ts'
import type { ObjectState } from '../headers/stat.ts'
import type { Store } from '../store/store.ts'
import type { ObjectCopy } from './copy-object.ts'

/**
 * Whether this process must protect a copy's source, because the store copies it without a condition.
 * Objects of a tree have no `LastModified` here, and are not checked.
 */
export function checksSource({ dialect }: Store, { state }: ObjectCopy): boolean {
  return !dialect.conditionalCopySource && state.headers.LastModified !== undefined
}

/** Copies an object within the store, with time, mode and attributes. If the source's headers are known, the copy gets an id of its own. */
export async function copyInStore(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { source, sourceKey, destination, destinationKey, condition, state } = copy
  const { dialect, bucket, requests, history, extra } = store
  const etag = dialect.conditionalCopySource ? conditionOf(state.stat.version, dialect) : undefined
  const there = { ...task, path: destination }
  const identity = identify(store, destinationKey, condition)
  const fate: Fate = { lost: false }
  const isKnown = state.headers.LastModified !== undefined
  conditionHeaders(store, condition, there)

  const attemptOnce = async (attempt: Attempt): Promise<Version> => {
    let sent = condition
    if (fate.lost) {
      const found = await look(attempt)
      if ('version' in found) return found.version
      sent = dialect.conditionalCopyDestination ? conditionOn(found.state) : undefined
      if (condition !== undefined && sent !== condition) throw failure('ECONFLICT', task.operation, destination)
    }
    if (checksSource(store, copy)) await checkSource(attempt)
    const writes = writesOn(store, destinationKey, identity.id, sent)
    const command = new CopyObjectCommand({
      Bucket: bucket,
      Key: destinationKey,
      CopySource: copySource(bucket, sourceKey),
      ...(etag === undefined ? {} : { CopySourceIfMatch: etag }),
      ...extra,
      ...(isKnown ? replaced(state, writes) : {}),
      ...conditionHeaders(store, sent, there),
    })
    try {
      const { CopyObjectResult } = await attempt.client.send(command, { abortSignal: attempt.abortSignal })
      const version = answeredVersion(CopyObjectResult?.ETag)
      if (isKnown) history.note(destinationKey, { version, writes, attributes: state.attributes })
      return version
    } catch (error) {
      if (!isRefusal(error) || !fate.lost) throw error
      const found = await look(attempt)
      if ('version' in found) return found.version
      throw error
    }
  }
  try {
    return await changing(store, destinationKey, condition, task, () =>
      requests.run(task, attemptOnce, { fate, copied: state.stat.size }),
    )
  } catch (error) {
    if (isWorkspaceError(error) || task.signal?.aborted === true) throw error
    if (!isRefusal(error)) throw fate.lost ? unknownError(identity, there, error) : error
    const now = await headObject(store, sourceKey, task)
    if (now === undefined) throw failure('ENOENT', task.operation, source)
    const side = now.stat.version === state.stat.version ? destination : source
    throw failure('ECONFLICT', task.operation, side)
  }

  async function checkSource(attempt: Attempt): Promise<void> {
    const now = await headOnce(store, sourceKey, attempt)
    if (now === undefined) throw failure('ENOENT', task.operation, source)
    if (now.stat.version !== state.stat.version) throw failure('ECONFLICT', task.operation, source)
  }

  /** Finds out whether the destination is this copy or another object. @throws `EIO` if that cannot be determined */
  async function look(
    attempt: Attempt,
  ): Promise<{ readonly version: Version } | { readonly state: ObjectState | undefined }> {
    const { outcome, state: now } = await findOutcome(store, identity, attempt)
    if (now !== undefined) {
      if (outcome === 'done') return { version: now.stat.version }
      // a copy without its own id has the source's id
      const from = isKnown ? undefined : await headOnce(store, sourceKey, attempt)
      const isCopy = from?.stat.version === now.stat.version && from.metadata.writes[0] === now.metadata.writes[0]
      if (isCopy) return { version: now.stat.version }
    }
    if (outcome === 'unknown') throw unknownError(identity, there)
    return { state: now }
  }
}

/** The source's headers, with the copy's id. */
function replaced({ stat, headers, metadata, attributes }: ObjectState, writes: readonly string[]) {
  const { mode, modifiedAt } = stat
  const { crc32 } = metadata
  const partBytes = headers.Metadata?.[partBytesName]
  return {
    ...attributeHeaders(attributes),
    MetadataDirective: 'REPLACE',
    Metadata: {
      ...writeMetadata({ modifiedAt, mode, crc32, writes }, attributes.Metadata),
      ...(partBytes === undefined ? {} : { [partBytesName]: partBytes }),
    },
  } as const
}
