import { isWithin, mountRoot, parentPath, segmentsOf, type MountPath } from '../../path/virtual-path.ts'
import { DriverFault } from '../base/faults.ts'
import { contractError } from '../failures.ts'
import type { Stat } from '../../contract/file-types.ts'
import type { KeyValueStore } from './store.ts'

export interface StoredValue {
  readonly bytes?: Uint8Array | undefined
}

const directoryStat: Stat = { type: 'directory', size: 0, version: 'directory' }

/**
 * Files and directories as keys: `/a/b.txt` is `a/b.txt`, the directory `/a` is `a/` with an empty value.
 * A directory also exists while a key lies below it, because other writers may store only keys of files.
 */
export class Entries {
  readonly #store: KeyValueStore

  constructor(store: KeyValueStore) {
    this.#store = store
  }

  async find(path: MountPath): Promise<StoredValue | undefined> {
    if (path === mountRoot) return {}
    const bytes = await this.#get(keyOf(path))
    if (bytes !== undefined) return { bytes }
    return (await this.#isDirectory(path)) ? {} : undefined
  }

  async expect(path: MountPath, operation: string): Promise<StoredValue> {
    const found = await this.find(path)
    if (found !== undefined) return found
    await this.missingAbove(path, operation)
    throw contractError('ENOENT', operation, path)
  }

  /** The directories above a path that are missing, from the top down. @throws WorkspaceError `ENOTDIR` below a file */
  async missingAbove(path: MountPath, operation: string): Promise<MountPath[]> {
    const missing: MountPath[] = []
    for (let above = parentPath(path); ; above = parentPath(above)) {
      const found = await this.find(above)
      if (found?.bytes !== undefined) throw contractError('ENOTDIR', operation, path)
      if (found !== undefined) return missing
      missing.unshift(above)
    }
  }

  async *below(path: MountPath): AsyncGenerator<MountPath, void, undefined> {
    const prefix = prefixOf(path)
    const seen = new Set<string>()
    for await (const key of this.#keys(prefix)) {
      const names = key.slice(prefix.length).split('/')
      const isDirectory = names.at(-1) === ''
      if (isDirectory) names.pop()
      if (names.some((name) => !isName(name))) continue
      let at = path
      for (const [index, name] of names.entries()) {
        at = (at === mountRoot ? `/${name}` : `${at}/${name}`) as MountPath
        if (seen.has(at)) continue
        if (index < names.length - 1 || isDirectory) seen.add(at)
        yield at
      }
    }
  }

  async hasBelow(path: MountPath): Promise<boolean> {
    for await (const one of this.below(path)) return isWithin(one, path)
    return false
  }

  async set(path: MountPath, bytes: Uint8Array | undefined): Promise<void> {
    await this.#store.set(bytes === undefined ? `${keyOf(path)}/` : keyOf(path), bytes ?? new Uint8Array())
  }

  async remove(path: MountPath, { bytes }: StoredValue): Promise<void> {
    await this.#store.delete(bytes === undefined ? `${keyOf(path)}/` : keyOf(path))
  }

  async #isDirectory(path: MountPath): Promise<boolean> {
    if ((await this.#get(`${keyOf(path)}/`)) !== undefined) return true
    for await (const _key of this.#keys(prefixOf(path))) return true
    return false
  }

  async #get(key: string): Promise<Uint8Array | undefined> {
    const value = await this.#store.get(key)
    if (value === undefined || value instanceof Uint8Array) return value
    throw new DriverFault('`get` of the store must give a Uint8Array or `undefined`')
  }

  async *#keys(prefix: string): AsyncGenerator<string, void, undefined> {
    const keys: unknown = await this.#store.keys(prefix)
    if (!isIterable(keys)) throw new DriverFault('`keys` of the store must give a list or an iterator of texts')
    for await (const key of keys) {
      if (typeof key !== 'string') throw new DriverFault('`keys` of the store must give texts')
      if (!key.startsWith(prefix)) {
        throw new DriverFault('`keys` of the store must give only keys that begin with the text that it was given')
      }
      yield key
    }
  }
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value)
}

/** Returns the size and the version. The version is a hash of the content. */
export async function statOf({ bytes }: StoredValue): Promise<Stat> {
  if (bytes === undefined) return directoryStat
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)))
  const version = Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return { type: 'file', size: bytes.length, version }
}

function keyOf(path: MountPath): string {
  return path.slice(1)
}

function prefixOf(path: MountPath): string {
  return path === mountRoot ? '' : `${keyOf(path)}/`
}

function isName(name: string): boolean {
  return (
    name !== '' &&
    name !== '.' &&
    name !== '..' &&
    !name.includes('\0') &&
    segmentsOf(`/${name}` as MountPath).length === 1
  )
}
