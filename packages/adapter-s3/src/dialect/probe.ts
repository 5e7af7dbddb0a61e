import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Version } from '@ws/core'
import { createHash } from 'node:crypto'
import { isPreconditionFailure, statusOf } from '../client/native.ts'
import type { Requests, Task } from '../client/requests.ts'
import { copySource } from '../keys/key-space.ts'
import { answeredVersion } from '../keys/etag.ts'
import { decodeKey } from '../listing/keys.ts'
import type { S3Dialect } from './dialect.ts'

type ProbeRequest = (client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<unknown>

/** An ETag that nothing has. */
const otherEtag = '00000000000000000000000000000000'

/**
 * Asks a server what it makes of conditions, by conditions that cannot hold: one that honours them refuses. Works on a few
 * objects of its own, whose keys begin with `key`, and removes them.
 *
 * @throws the SDK's error when not even an object can be put.
 */
export class Probe {
  readonly #requests: Requests
  readonly #bucket: string
  readonly #key: string
  readonly #task: Task

  constructor(requests: Requests, { bucket, key, task }: { bucket: string; key: string; task: Task }) {
    this.#requests = requests
    this.#bucket = bucket
    this.#key = key
    this.#task = task
  }

  async run(): Promise<S3Dialect> {
    const first = await this.#put(this.#key, 'a')
    try {
      const md5Etags = first === createHash('md5').update('a').digest('hex')
      const [put, copySourceMatch, controlCharacters, normalisesKeys, complete, others] = await Promise.all([
        this.#probePut(first),
        this.#probeCopySource(),
        this.#probeControlCharacters(),
        this.#probeNormalisation(),
        this.#probeComplete(),
        this.#probeOthers(),
      ])
      return {
        ...put,
        conditionalCopySource: copySourceMatch,
        controlCharacters,
        normalisesKeys,
        ...others,
        ...complete,
        md5Etags,
      }
    } finally {
      await this.#cleanUp()
    }
  }

  async #probePut(etag: string): Promise<Pick<S3Dialect, 'etags' | 'conditionalPut'>> {
    const create = await this.#refuses(this.#putWith({ IfNoneMatch: '*' }))
    const update = await this.#refuses(this.#putWith({ IfMatch: `"${otherEtag}"` }))
    if (!create || !update) return { etags: 'quoted', conditionalPut: false }
    for (const [etags, header] of [
      ['quoted', `"${etag}"`],
      ['bare', etag],
    ] as const) {
      if (await this.#accepts(this.#putWith({ IfMatch: header }))) return { etags, conditionalPut: true }
    }
    return { etags: 'quoted', conditionalPut: false }
  }

  async #probeCopySource(): Promise<boolean> {
    return this.#refuses((client, options) =>
      client.send(
        new CopyObjectCommand({
          Bucket: this.#bucket,
          Key: `${this.#key}-copy`,
          CopySource: copySource(this.#bucket, this.#key),
          CopySourceIfMatch: `"${otherEtag}"`,
        }),
        options,
      ),
    )
  }

  /** The destination of a copy, then a delete, on one object. */
  async #probeOthers(): Promise<Pick<S3Dialect, 'conditionalCopyDestination' | 'conditionalDelete'>> {
    const key = `${this.#key}-other`
    await this.#put(key, 'b')
    const copyTo =
      (condition: { IfNoneMatch: '*' } | { IfMatch: string }): ProbeRequest =>
      (client, options) =>
        client.send(
          new CopyObjectCommand({
            Bucket: this.#bucket,
            Key: key,
            CopySource: copySource(this.#bucket, this.#key),
            ...condition,
          }),
          options,
        )
    const conditionalCopyDestination =
      (await this.#refuses(copyTo({ IfNoneMatch: '*' }))) &&
      (await this.#refuses(copyTo({ IfMatch: `"${otherEtag}"` })))
    const refused = await this.#refuses((client, options) =>
      client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: key, IfMatch: `"${otherEtag}"` }), options),
    )
    // after a lost answer a server that ignores the condition refuses too, since nothing is left
    const conditionalDelete =
      refused &&
      (await this.#accepts((client, options) =>
        client.send(new HeadObjectCommand({ Bucket: this.#bucket, Key: key }), options),
      ))
    return { conditionalCopyDestination, conditionalDelete }
  }

  async #probeComplete(): Promise<Pick<S3Dialect, 'conditionalComplete' | 'checksums'>> {
    const target = { Bucket: this.#bucket, Key: `${this.#key}-parts` }
    try {
      await this.#put(target.Key, 'a')
      const checked = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const
      const begin = (more: object) =>
        this.#requests.run(this.#task, ({ client, abortSignal }) =>
          client.send(new CreateMultipartUploadCommand({ ...target, ...more }), { abortSignal }),
        )
      const { UploadId } = await begin(checked).catch(() => begin({}))
      const part = { ...target, UploadId, PartNumber: 1, Body: new TextEncoder().encode('a') }
      const send = (more: object) =>
        this.#requests.run(this.#task, ({ client, abortSignal }) =>
          client.send(new UploadPartCommand({ ...part, ...more }), { abortSignal }),
        )
      // one that cannot be right is refused by who compares it
      const wrong = await send({ ChecksumCRC32: 'AAAAAA==' }).then(
        () => false,
        (error: unknown) => statusOf(error) === 400,
      )
      const { ETag } = await send(wrong ? { ChecksumCRC32: '6Le+Qw==' } : {})
      const refused = await this.#refuses((client, options) =>
        client.send(
          new CompleteMultipartUploadCommand({
            ...target,
            UploadId,
            MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] },
            IfNoneMatch: '*',
          }),
          options,
        ),
      )
      await this.#accepts((client, options) =>
        client.send(new AbortMultipartUploadCommand({ ...target, UploadId }), options),
      )
      return { conditionalComplete: refused, checksums: wrong }
    } catch {
      return { conditionalComplete: false, checksums: false } // no uploads in parts, so no conditions on them
    }
  }

  async #probeControlCharacters(): Promise<boolean> {
    const key = `${this.#key}\t\n\u0001\u2028`
    try {
      // once: servers that cannot do it may hang up
      await this.#requests.once(this.#task, ({ client, abortSignal }) =>
        client.send(this.#putCommand(key, ''), { abortSignal }),
      )
      return (await this.#keys()).includes(key)
    } catch {
      return false
    }
  }

  async #probeNormalisation(): Promise<boolean> {
    const key = `${this.#key}e\u0301`
    await this.#put(key, '')
    return !(await this.#keys()).includes(key)
  }

  #putWith(condition: { readonly IfMatch: string } | { readonly IfNoneMatch: string }): ProbeRequest {
    return (client, options) =>
      client.send(
        new PutObjectCommand({
          Bucket: this.#bucket,
          Key: this.#key,
          Body: new TextEncoder().encode('a'),
          ...condition,
        }),
        options,
      )
  }

  async #put(key: string, text: string): Promise<Version> {
    const command = this.#putCommand(key, text)
    return this.#requests.run(this.#task, async ({ client, abortSignal }) =>
      answeredVersion((await client.send(command, { abortSignal })).ETag),
    )
  }

  /** The SDK warns of a body that is empty and has no length. */
  #putCommand(key: string, text: string): PutObjectCommand {
    const Body = new TextEncoder().encode(text)
    return new PutObjectCommand({ Bucket: this.#bucket, Key: key, Body, ContentLength: Body.length })
  }

  async #keys(): Promise<(string | undefined)[]> {
    const { Contents = [], EncodingType } = await this.#requests.run(this.#task, ({ client, abortSignal }) =>
      client.send(new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: this.#key, EncodingType: 'url' }), {
        abortSignal,
      }),
    )
    return Contents.map(({ Key = '' }) => (EncodingType === 'url' ? decodeKey(Key).key : Key))
  }

  /** The server says that the condition does not hold. After any other answer, the condition cannot be relied on. */
  async #refuses(call: ProbeRequest): Promise<boolean> {
    try {
      await this.#requests.run(this.#task, ({ client, abortSignal }) => call(client, { abortSignal }))
      return false
    } catch (error) {
      return isPreconditionFailure(error)
    }
  }

  async #accepts(call: ProbeRequest): Promise<boolean> {
    try {
      await this.#requests.run(this.#task, ({ client, abortSignal }) => call(client, { abortSignal }))
      return true
    } catch {
      return false
    }
  }

  async #cleanUp(): Promise<void> {
    const keys = await this.#keys().catch(() => [])
    await Promise.all(
      keys.map(async (key) => {
        if (key === undefined) return
        await this.#accepts((client, options) =>
          client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: key }), options),
        )
      }),
    )
  }
}
