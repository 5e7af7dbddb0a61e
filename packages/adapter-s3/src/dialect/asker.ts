import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { Version } from '@ws/core'
import { isPreconditionFailure } from '../client/native.ts'
import type { Requests, RunOptions, Task } from '../client/requests.ts'
import { answeredVersion } from '../keys/etag.ts'
import { decodeKey } from '../listing/keys.ts'

export type ProbeRequest = (client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<unknown>

export const otherEtag = '00000000000000000000000000000000'

/** Sends a server questions about a few objects of its own, whose keys begin with `key`, and removes them. */
export class Asker {
  readonly requests: Requests
  readonly bucket: string
  readonly key: string
  readonly task: Task
  /** Keys that are there. */
  readonly #made = new Set<string>()

  constructor(requests: Requests, { bucket, key, task }: { bucket: string; key: string; task: Task }) {
    this.requests = requests
    this.bucket = bucket
    this.key = key
    this.task = task
  }

  async put(key: string): Promise<Version> {
    const command = this.putCommand(key)
    this.#made.add(key)
    return this.requests.run(this.task, async ({ client, abortSignal }) =>
      answeredVersion((await client.send(command, { abortSignal })).ETag),
    )
  }

  /** The same once, since a server that cannot do it may hang up. `undefined`: it did not say that it is done. */
  async putOnce(key: string): Promise<Version | undefined> {
    const command = this.putCommand(key)
    try {
      const version = await this.requests.once(this.task, async ({ client, abortSignal }) =>
        answeredVersion((await client.send(command, { abortSignal })).ETag),
      )
      this.#made.add(key)
      return version
    } catch {
      return undefined
    }
  }

  /** The SDK warns of a body that is empty and has no length. */
  putCommand(key: string, condition: { readonly IfMatch?: string; readonly IfNoneMatch?: '*' } = {}): PutObjectCommand {
    const Body = new TextEncoder().encode('a')
    return new PutObjectCommand({ Bucket: this.bucket, Key: key, Body, ContentLength: Body.length, ...condition })
  }

  /** The keys that the server lists; they will be removed too, whatever it has made of their names. */
  async listKeys(): Promise<readonly string[]> {
    const { Contents = [], EncodingType } = await this.requests.run(this.task, ({ client, abortSignal }) =>
      client.send(new ListObjectsV2Command({ Bucket: this.bucket, Prefix: this.key, EncodingType: 'url' }), {
        abortSignal,
      }),
    )
    const all = Contents.map(({ Key = '' }) => (EncodingType === 'url' ? decodeKey(Key).key : Key))
    const keys = all.filter((key) => key !== undefined)
    for (const key of keys) this.#made.add(key)
    return keys
  }

  /** The server says that the condition does not hold. After any other answer, the condition cannot be relied on. */
  async refuses(call: ProbeRequest): Promise<boolean> {
    try {
      await this.requests.run(this.task, ({ client, abortSignal }) => call(client, { abortSignal }))
      return false
    } catch (error) {
      return isPreconditionFailure(error)
    }
  }

  async accepts(call: ProbeRequest, options?: RunOptions): Promise<boolean> {
    try {
      await this.requests.run(this.task, ({ client, abortSignal }) => call(client, { abortSignal }), options)
      return true
    } catch {
      return false
    }
  }

  /** Removes something, also while the adapter closes. */
  async remove(call: ProbeRequest): Promise<void> {
    await this.accepts(call, { whileClosing: true })
  }

  /** The server has removed it already. */
  forget(key: string): void {
    this.#made.delete(key)
  }

  async cleanUp(): Promise<void> {
    const keys = [...this.#made]
    await Promise.all(
      keys.map((key) =>
        this.remove((client, options) =>
          client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: key }), options),
        ),
      ),
    )
  }
}
