import type { Workspace } from '../contract/workspace.ts'
import { bytesOf, type EncodingOptions, encodingOf, type OpenMode, shaped } from './arguments.ts'
import { explain, nodeError } from './errors.ts'
import { Stats } from './stats.ts'

let lastDescriptor = 2

interface ReadOptions {
  readonly buffer?: Uint8Array | undefined
  readonly offset?: number | null | undefined
  readonly length?: number | null | undefined
  readonly position?: number | bigint | null | undefined
}

interface WriteOptions {
  readonly offset?: number | undefined
  readonly length?: number | undefined
  readonly position?: number | null | undefined
}

/** Node's `FileHandle`, but bound to a path: after a move it fails with `ENOENT`. A write replaces the file, unless it appends at the end. */
export class FileHandle implements AsyncDisposable {
  readonly fd: number
  readonly #workspace: Workspace
  readonly #path: string
  readonly #mode: OpenMode
  #position = 0
  #isClosed = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(workspace: Workspace, path: string, mode: OpenMode) {
    this.#workspace = workspace
    this.#path = path
    this.#mode = mode
    lastDescriptor += 1
    this.fd = lastDescriptor
  }

  async read<Into extends Uint8Array>(
    target?: Into | ReadOptions,
    offsetOrOptions?: number | null | Omit<ReadOptions, 'buffer'>,
    length?: number | null,
    position?: number | bigint | null,
  ): Promise<{ bytesRead: number; buffer: Into }> {
    const given = typeof offsetOrOptions === 'object' && offsetOrOptions !== null
    const rest: ReadOptions = given ? offsetOrOptions : { offset: offsetOrOptions, length, position }
    const options: ReadOptions = target instanceof Uint8Array ? { ...rest, buffer: target } : (target ?? {})
    const buffer = options.buffer ?? (shaped(new Uint8Array(16_384), undefined) as Uint8Array)
    const offset = options.offset ?? 0
    const wanted = options.length ?? buffer.byteLength - offset
    const isHere = options.position === undefined || options.position === null || Number(options.position) < 0
    return await this.#run('read', 'reads', async () => {
      const start = isHere ? this.#position : Number(options.position)
      const { bytes } = await this.#workspace.read(this.#path, { range: { offset: start, length: wanted } })
      buffer.set(bytes, offset)
      if (isHere) this.#position = start + bytes.length
      return { bytesRead: bytes.length, buffer: buffer as Into }
    })
  }

  async write<Data extends string | Uint8Array>(
    data: Data,
    offsetOrPosition?: number | null | WriteOptions,
    lengthOrEncoding?: number | string | null,
    position?: number | null,
  ): Promise<{ bytesWritten: number; buffer: Data }> {
    const whole = bytesOf(data, typeof lengthOrEncoding === 'string' ? lengthOrEncoding : undefined)
    const options = writeOptionsOf(typeof data === 'string', offsetOrPosition, lengthOrEncoding, position)
    const { offset = 0, length = whole.length - offset } = options
    const part = whole.subarray(offset, offset + length)
    return { bytesWritten: await this.#put(part, options.position ?? undefined), buffer: data }
  }

  async readFile(options?: EncodingOptions | string | null): Promise<string | Uint8Array> {
    return await this.#run('read', 'reads', async () => {
      const { bytes } = await this.#workspace.read(this.#path, { range: { offset: this.#position } })
      this.#position += bytes.length
      return shaped(bytes, encodingOf(options))
    })
  }

  async writeFile(data: string | Uint8Array, options?: EncodingOptions | string | null): Promise<void> {
    await this.#put(bytesOf(data, encodingOf(options)), undefined)
  }

  async appendFile(data: string | Uint8Array, options?: EncodingOptions | string | null): Promise<void> {
    await this.writeFile(data, options)
  }

  async stat(): Promise<Stats> {
    return await this.#run('fstat', undefined, async () => {
      return new Stats(await this.#workspace.stat(this.#path, { followLinks: true }))
    })
  }

  async close(): Promise<void> {
    await this.#last
    this.#isClosed = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #put(bytes: Uint8Array, position: number | undefined): Promise<number> {
    return await this.#run('write', 'writes', async () => {
      const { size, version } = await this.#workspace.stat(this.#path, { followLinks: true })
      const at = this.#mode.appends ? size : (position ?? this.#position)
      if (at === size) await this.#workspace.append(this.#path, bytes, { parents: false })
      else {
        const { bytes: old } = await this.#workspace.read(this.#path, { ifVersion: version })
        const content = new Uint8Array(Math.max(old.length, at + bytes.length))
        content.set(old)
        content.set(bytes, at)
        await this.#workspace.write(this.#path, content, { ifVersion: version, parents: false })
      }
      if (position === undefined) this.#position = at + bytes.length
      return bytes.length
    })
  }

  async #run<Result>(
    syscall: string,
    needs: 'reads' | 'writes' | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    try {
      if (this.#isClosed) throw Object.assign(new Error('file closed'), { code: 'EBADF', syscall })
      if (needs !== undefined && !this.#mode[needs]) throw nodeError('EBADF', { syscall })
      return await work()
    } catch (error) {
      throw explain(error, { syscall })
    } finally {
      resolve()
    }
  }
}

function writeOptionsOf(
  isText: boolean,
  offsetOrPosition: number | null | WriteOptions | undefined,
  length: number | string | null | undefined,
  position: number | null | undefined,
): WriteOptions {
  if (typeof offsetOrPosition === 'object' && offsetOrPosition !== null) return offsetOrPosition
  if (isText) return { position: offsetOrPosition }
  return { offset: offsetOrPosition ?? 0, position, ...(typeof length === 'number' && { length }) }
}
