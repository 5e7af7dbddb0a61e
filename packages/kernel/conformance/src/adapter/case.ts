import { paths, type Version } from '@ws/core'
import { LinkSignal, type AdapterCapabilities, type Entry, type MountPath, type StorageAdapter } from '@ws/core/adapter'
import type { InnerAdapter, InnerListOptions } from '@ws/core/inner'
import { fail } from '../assert.ts'
import type { AdapterFixture, AdapterSuiteOptions } from '../options/adapter.ts'

export const at = (path: string): MountPath => paths.parseMount(path)

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Returns bytes whose values depend on their offsets, so that tests detect a wrong range. */
export function pattern(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index += 1) bytes[index] = (index * 31 + (index >> 8) + seed) & 255
  return bytes
}

export class Case {
  readonly adapter: InnerAdapter
  readonly seed: StorageAdapter
  readonly fixture: AdapterFixture
  readonly deep: boolean
  readonly pageSize: number
  /** Skips the test for a reason that only the fixture can show. */
  readonly skip: (reason: string) => never

  constructor(
    fixture: AdapterFixture,
    { deep = false, pageSize = 0 }: AdapterSuiteOptions,
    skip: (reason: string) => never,
  ) {
    this.skip = skip
    this.fixture = fixture
    this.adapter = fixture.adapter
    this.seed = fixture.seed ?? fixture.adapter
    this.deep = deep
    this.pageSize = pageSize
  }

  get capabilities(): AdapterCapabilities {
    return this.adapter.capabilities
  }

  async put(path: string, content: string | Uint8Array = 'content'): Promise<Version> {
    const bytes = typeof content === 'string' ? encode(content) : content
    return (await this.seed.write(at(path), bytes, { parents: true })).version
  }

  async directory(path: string): Promise<void> {
    await this.seed.createDirectory(at(path), { recursive: true })
  }

  async link(path: string, target: string): Promise<void> {
    const { createSymlink } = this.seed
    if (createSymlink === undefined) fail('the capability `symlinks` is declared, and `createSymlink` is not there')
    await createSymlink.call(this.seed, at(path), target)
  }

  async text(path: string): Promise<string> {
    return decode((await this.adapter.read(at(path))).bytes)
  }

  async version(path: string): Promise<Version> {
    return (await this.adapter.stat(at(path))).version
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.adapter.stat(at(path))
      return true
    } catch (error) {
      if (error instanceof LinkSignal) return false
      if (typeof error === 'object' && error !== null && 'code' in error) {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false
      }
      throw error
    }
  }

  async entries(path = '/', options?: InnerListOptions): Promise<Entry[]> {
    return Array.fromAsync(this.adapter.list(at(path), options))
  }

  async paths(path = '/', options?: InnerListOptions): Promise<string[]> {
    return (await this.entries(path, options)).map((entry): string => entry.path).toSorted()
  }

  async tree(): Promise<string[]> {
    const lines: string[] = []
    for await (const { path, type, unreachable } of this.seed.list(at('/'), { recursive: true })) {
      const content =
        unreachable === true
          ? ''
          : type === 'file'
            ? decode((await this.seed.read(path)).bytes)
            : type === 'symlink'
              ? await this.seed.readSymlink?.(path)
              : ''
      lines.push(`${type} ${path} ${content}`)
    }
    return lines.toSorted()
  }
}

export function body(
  ...chunks: readonly (string | Uint8Array)[]
): AsyncIterable<Uint8Array> & { readonly touched: boolean } {
  let touched = false
  return {
    get touched() {
      return touched
    },
    async *[Symbol.asyncIterator]() {
      touched = true
      for (const chunk of chunks) yield typeof chunk === 'string' ? encode(chunk) : chunk
    },
  }
}

export async function drain(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks = await Array.fromAsync(stream)
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

export function offered<Method>(method: Method | undefined, name: string): Method {
  if (method === undefined) fail(`the capabilities promise \`${name}\`, and it is not there`)
  return method
}
