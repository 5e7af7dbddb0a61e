import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { Version } from '@ws/core'
import { listOnce } from '../client/list-once.ts'
import { deniedPut, isMissing, isPreconditionFailure, isWordless, statusOf } from '../client/native.ts'
import type { Attempt, Requests, RunOptions, Task } from '../client/requests.ts'
import { attemptsFor } from '../client/retry.ts'
import { answeredVersion } from '../keys/etag.ts'
import { decodeKey } from '../keys/decode.ts'

export type ProbeRequest = (client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<unknown>

/** `done`: the server ignored the condition. `refused`: the server checked it. `unable`: the server refused the request itself. */
export type Answer = 'done' | 'refused' | 'unable'

interface AskOptions extends RunOptions {
  readonly optional?: boolean
}

const longestProbe = 3_600_000

export const otherEtag = '00000000000000000000000000000000'

/** Sends test requests about temporary objects below `key`, and removes the objects. */
export class Asker {
  readonly requests: Requests
  readonly bucket: string
  readonly key: string
  readonly task: Task
  isCertain = true
  readonly #made = new Set<string>()
  /** True once the server has stored an object, which must be removed. */
  #isTaken = false

  constructor(requests: Requests, { bucket, key, task }: { bucket: string; key: string; task: Task }) {
    this.requests = requests
    this.bucket = bucket
    this.key = key
    this.task = task
  }

  async put(key: string): Promise<Version> {
    const command = this.putCommand(key)
    this.#made.add(key)
    return this.requests.run(this.task, (attempt) => this.#put(command, attempt))
  }

  async #put(command: PutObjectCommand, { client, abortSignal }: Attempt): Promise<Version> {
    const sent = client.send(command, { abortSignal }).catch(deniedPut)
    const version = answeredVersion((await sent).ETag)
    this.#isTaken = true
    return version
  }

  /**
   * Puts an object with an odd name; `undefined` if refused. Three closed connections, with puts of `plain` between, count as a refusal,
   * but this answer is not kept.
   */
  async putOdd(key: string, plain: string): Promise<Version | undefined> {
    const command = this.putCommand(key)
    this.#made.add(key)
    for (let left = 2; ; left -= 1) {
      try {
        return await this.requests.once(this.task, (attempt) => this.#put(command, attempt))
      } catch (error) {
        if (isUnable(error) || statusOf(error) === 404) {
          this.#made.delete(key)
          return undefined
        }
        await this.put(plain)
        this.isCertain &&= left > 0
        if (left === 0) return undefined
      }
    }
  }

  /** Builds a put command with a content length, without which the SDK warns about the body. */
  putCommand(key: string, condition: { readonly IfMatch?: string; readonly IfNoneMatch?: '*' } = {}): PutObjectCommand {
    const Body = new TextEncoder().encode('a')
    return new PutObjectCommand({ Bucket: this.bucket, Key: key, Body, ContentLength: Body.length, ...condition })
  }

  /** The listed keys in any spelling. All of them will be removed. */
  async listKeys(): Promise<readonly string[]> {
    const keys = (await this.#list(this.key)).map(({ key }) => key)
    for (const key of keys) this.#made.add(key)
    return keys
  }

  /** Finds objects of killed probes, which will be removed. */
  async findLeft(): Promise<void> {
    const left = await this.#list(this.key.slice(0, -crypto.randomUUID().length)).catch(() => [])
    const old = left.filter(({ changedAt }) => changedAt < Date.now() - longestProbe)
    for (const { key } of old.slice(0, 100)) this.#made.add(key)
  }

  async #list(prefix: string): Promise<{ readonly key: string; readonly changedAt: number }[]> {
    const { Contents = [], EncodingType } = await listOnce(this, { Prefix: prefix, EncodingType: 'url' }, this.task)
    return Contents.flatMap(({ Key = '', LastModified }) => {
      const key = EncodingType === 'url' ? decodeKey(Key).key : Key
      return key === undefined ? [] : [{ key, changedAt: LastModified?.getTime() ?? Date.now() }]
    })
  }

  /**
   * Sends a request with a condition. If an `optional` request is denied, the credentials may lack the right: `unable`, not cached.
   * @throws any other error, since it proves nothing about the server
   */
  async ask(call: ProbeRequest, { optional = false, ...options }: AskOptions = {}): Promise<Answer> {
    try {
      await this.#run(call, options)
      return 'done'
    } catch (error) {
      if (isPreconditionFailure(error)) return 'refused'
      const isDenied = optional && statusOf(error) === 403
      if (!isDenied && (!isUnable(error) || isMissing(error))) throw error
      this.isCertain &&= !isDenied
      return 'unable'
    }
  }

  async remove(call: ProbeRequest): Promise<void> {
    await this.#run(call, { whileClosing: true }).catch(() => undefined) // ignored, because a leftover object of the probe does no harm
  }

  #run(call: ProbeRequest, options: RunOptions): Promise<unknown> {
    return this.requests.run(this.task, ({ client, abortSignal }) => call(client, { abortSignal }), options)
  }

  forget(key: string): void {
    this.#made.delete(key)
  }

  async cleanUp(): Promise<void> {
    const keys = this.#isTaken ? [...this.#made] : []
    await Promise.all(
      keys.map((key) =>
        this.remove((client, options) =>
          client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: key }), options),
        ),
      ),
    )
  }
}

/** True if the server refuses the request itself. False for temporary errors, and errors of the network or the credentials. */
export function isUnable(error: unknown): boolean {
  const status = statusOf(error) ?? 0
  const isOfMoment = attemptsFor(error) > 1 && !isWordless(error)
  return status >= 400 && ![401, 403, 507].includes(status) && !isOfMoment
}
