import { PutObjectCommand, type PutObjectCommandInput } from '@aws-sdk/client-s3'
import { isWorkspaceError, type Version, type WriteResult } from '@ws/core'
import type { Condition, MountPath } from '@ws/core/adapter'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { deniedPut, nativeAttemptsOf } from '../client/native.ts'
import type { Attempt, Fate, Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { answeredVersion } from '../keys/etag.ts'
import type { Store } from '../store/store.ts'
import { attributeHeaders, attributesFor, forNewBytes, noAttributes, type Attributes } from '../headers/attributes.ts'
import { conditionHeaders, conditionOn, identify, isRefusal, writesOn, type WriteIdentity } from './conditional.ts'
import { changing } from './effects.ts'
import { headObject } from './lookup-real.ts'
import { writeMetadata } from '../headers/metadata.ts'
import { findOutcome, supersededError, unknownError } from './outcome.ts'
import type { ObjectState } from '../headers/stat.ts'

export interface PutBody {
  readonly bytes: number
  /** Called for each attempt. `gone` reports each sent piece. */
  readonly open: (gone: () => void) => NonNullable<PutObjectCommandInput['Body']>
  /** MD5 in base64, for unsigned bodies. */
  readonly md5?: string | undefined
  readonly crc32: number
  /** The checksum that becomes the version of a write with a lost answer. */
  readonly digest: () => string
}

export interface PutOptions {
  readonly key: string
  readonly condition?: Condition | undefined
  readonly mode?: number | undefined
  readonly modifiedAt?: number | undefined
  /** Exactly these attributes. `keep` means those of the replaced file, or the defaults for a new file. */
  readonly attributes: Attributes | 'keep'
}

interface Plan {
  readonly condition: Condition | undefined
  readonly attributes: Attributes
}

/** Limit of a body that is sent on a guessed condition, which the server may refuse. */
const guessBytes = 1024 * 1024
/** Limit of consecutive refused guesses: then other writers are busy with the object. */
const maxRefusals = 10

export function bytesBody(bytes: Uint8Array): PutBody {
  return {
    bytes: bytes.length,
    open: () => bytes,
    crc32: crc32(bytes),
    digest: () => createHash('md5').update(bytes).digest('hex'),
  }
}

/** One atomic PUT, with a condition that the server checks. */
export async function putObject(store: Store, body: PutBody, options: PutOptions, task: Task): Promise<WriteResult> {
  const put = new Put(store, body, options, task)
  const version = await changing(store, options.key, options.condition, task, () => put.run())
  return { version, size: body.bytes }
}

/**
 * An unconditional write guesses the state that it replaces, and the server checks the guess. One request then keeps type and metadata.
 * After a wrong guess, the write looks up the object and replaces any entry. After a lost answer, all attempts are conditional.
 */
class Put {
  readonly #store: Store
  readonly #body: PutBody
  readonly #options: PutOptions
  readonly #task: Task
  /** The write's identity, renewed after the first plan. */
  #identity: WriteIdentity
  readonly #modifiedAt: number
  readonly #fate: Fate = { lost: false }

  constructor(store: Store, body: PutBody, options: PutOptions, task: Task) {
    this.#store = store
    this.#body = body
    this.#options = options
    this.#task = task
    this.#modifiedAt = options.modifiedAt ?? Date.now()
    this.#identity = identify(store, options.key, options.condition)
  }

  async run(): Promise<Version> {
    const { requests } = this.#store
    conditionHeaders(this.#store, this.#options.condition, this.#task)
    let plan = await this.#firstPlan()
    this.#identity = identify(this.#store, this.#options.key, this.#options.condition)
    try {
      const sending = async (attempt: Attempt): Promise<Version> => {
        if (this.#fate.lost) {
          const found = await this.#look(attempt, true)
          if ('version' in found) return found.version
          plan = this.#planOn(found.state)
        }
        return this.#send(plan, attempt)
      }
      return await requests.run(this.#task, sending, { bytes: this.#body.bytes, fate: this.#fate })
    } catch (error) {
      if (!this.#fate.lost || isWorkspaceError(error) || this.#task.signal?.aborted === true) throw error
      throw unknownError(this.#identity, this.#task, error)
    }
  }

  async #firstPlan(): Promise<Plan> {
    const { key, condition, attributes } = this.#options
    const { history, dialect } = this.#store
    if (attributes !== 'keep') return { condition, attributes }
    if (condition === 'absent') return { condition, attributes: this.#attributes(undefined) }
    const known = history.latest(key)
    const seen = known === 'absent' ? undefined : known
    if (condition !== undefined && seen?.version === condition) {
      return { condition, attributes: this.#attributes(seen.attributes) }
    }
    const mayGuess = condition === undefined && dialect.conditionalPut && this.#body.bytes <= guessBytes
    if (mayGuess) return { condition: seen?.version ?? 'absent', attributes: this.#attributes(seen?.attributes) }
    const state = await headObject(this.#store, key, this.#task)
    if (state !== undefined) history.noteState(key, state)
    if (condition !== undefined && condition !== conditionOn(state)) {
      throw failure('ECONFLICT', this.#task.operation, this.#task.path)
    }
    return { condition, attributes: this.#attributes(state?.attributes) }
  }

  /** Plans the next attempt, assuming that no earlier attempt took effect. */
  #planOn(state: ObjectState | undefined): Plan {
    const { condition, attributes } = this.#options
    const seen = conditionOn(state)
    if (condition !== undefined && condition !== seen) {
      throw failure('ECONFLICT', this.#task.operation, this.#task.path)
    }
    if (!this.#store.dialect.conditionalPut) throw unknownError(this.#identity, this.#task)
    return { condition: seen, attributes: attributes === 'keep' ? this.#attributes(state?.attributes) : attributes } // @defence `condition: seen, ` a request sent: replaces what came since only if it was seen
  }

  /** Sends one request; a wrong guess about the state leads to more. */
  async #send(first: Plan, attempt: Attempt): Promise<Version> {
    let plan = first
    for (let refusals = 0; ; refusals += 1) {
      try {
        return await this.#request(plan, attempt)
      } catch (error) {
        if (plan.condition === undefined || !isRefusal(error)) throw error
        // a caller's client, or the network, may have sent the request twice
        const isRepeated = this.#fate.lost || nativeAttemptsOf(error) > 1
        const found = await this.#look(attempt, isRepeated)
        if ('version' in found) return found.version
        if (this.#options.condition !== undefined || refusals === maxRefusals) {
          throw failure('ECONFLICT', this.#task.operation, this.#task.path)
        }
        plan = this.#planOn(found.state)
        if (!isRepeated) plan = { ...plan, condition: this.#startAfter(found.state) }
      }
    }
  }

  /** Records the state seen now, so that the write can start again without a condition. */
  #startAfter(state: ObjectState | undefined): undefined {
    const { key } = this.#options
    if (state === undefined) this.#store.history.noteAbsent(key)
    else this.#store.history.noteState(key, state)
    this.#identity = { ...this.#identity, since: performance.now() }
  }

  async #request({ condition, attributes }: Plan, { client, abortSignal, alive }: Attempt): Promise<Version> {
    const { key, mode } = this.#options
    const { bucket, history, extra } = this.#store
    const writes = writesOn(this.#store, key, this.#identity.id, condition)
    const { crc32: checksum, bytes, md5 } = this.#body
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: this.#body.open(alive),
      ContentLength: bytes,
      ...attributeHeaders(attributes),
      ...extra,
      Metadata: writeMetadata({ modifiedAt: this.#modifiedAt, mode, crc32: checksum, writes }, attributes.Metadata),
      ...(md5 === undefined ? {} : { ContentMD5: md5 }),
      ...conditionHeaders(this.#store, condition, this.#task),
    })
    const sent = client.send(command, { abortSignal }).catch(deniedPut)
    const version = answeredVersion((await sent).ETag)
    history.note(key, { version, writes, attributes })
    return version
  }

  /** Returns the object's state, or its version if this write made the object. @throws `EIO` if that is unknown and matters */
  async #look(
    attempt: Attempt,
    isRepeated: boolean,
  ): Promise<{ readonly version: Version } | { readonly state: ObjectState | undefined }> {
    const { outcome, state } = await findOutcome(this.#store, this.#identity, attempt)
    if (outcome === 'done') return { version: this.#ownVersion(state) }
    if (outcome === 'unknown' && isRepeated) throw unknownError(this.#identity, this.#task)
    return { state }
  }

  /** The version of this write, even if later writes have replaced it. */
  #ownVersion(state: ObjectState | undefined): Version {
    if (state?.metadata.writes[0] === this.#identity.id) return state.stat.version
    if (!this.#store.dialect.md5Etags) throw supersededError(this.#identity, this.#task)
    return this.#body.digest()
  }

  #attributes(kept: Attributes | undefined): Attributes {
    const { keys, defaults } = this.#store
    const path = keys.pathOf(this.#options.key)
    return attributesFor(path, kept === undefined ? undefined : forNewBytes(kept), defaults)
  }
}

/** Writes a marker or a link. */
export async function putSmall(
  store: Store,
  path: MountPath,
  key: string,
  { text = '', condition }: { readonly text?: string; readonly condition?: Condition | undefined },
  task: Task,
): Promise<WriteResult> {
  const options = { key, condition, attributes: noAttributes }
  return putObject(store, bytesBody(Buffer.from(text)), options, { ...task, path })
}
