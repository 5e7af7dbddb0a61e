import { paths } from '../../src/index.ts'
import type { AdapterCapabilities, Entry, StorageAdapter } from '../../src/adapter.ts'

const capabilities: AdapterCapabilities = {
  readOnly: false,
  append: false,
  chmod: false,
  utimes: false,
  symlinks: false,
  search: false,
  flush: false,
  watch: false,
  hostPath: false,
  atomicMove: true,
  atomicDirectoryMove: true,
  enforcesHierarchy: true,
  keepsEmptyDirectories: true,
  modes: true,
  caseSensitive: true,
  controlCharacters: true,
  uniqueVersions: true,
  conditionalWrite: 'none',
  conditionalDelete: 'none',
  conditionalMove: 'none',
  confinement: 'inherent',
  maxStaleness: 0,
  maxNameBytes: paths.maxNameBytes,
  maxPathBytes: paths.maxPathBytes,
}

/** An adapter with the methods that a test gives it. It records its calls. */
export function stub(methods: Partial<StorageAdapter> = {}): { adapter: StorageAdapter; calls: string[] } {
  const calls: string[] = []
  const refuse = (): Promise<never> => Promise.reject(new Error('not expected'))
  const all: StorageAdapter = {
    name: 'stub',
    capabilities,
    stat: async () => ({ type: 'directory', size: 0, version: '1' }),
    read: refuse,
    readStream: refuse,
    write: refuse,
    list: () => items<Entry>([]),
    createDirectory: refuse,
    delete: refuse,
    move: refuse,
    copy: refuse,
    close: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
    ...methods,
  }
  const adapter = new Proxy(all, {
    get(target, key, receiver) {
      const value: unknown = Reflect.get(target, key, receiver)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        calls.push(`${String(key)} ${args.filter((it) => typeof it === 'string').join(' ')}`.trim())
        return Reflect.apply(value, target, args)
      }
    },
  })
  return { adapter, calls }
}

export async function* items<Item>(list: readonly Item[], failure?: Error): AsyncGenerator<Item, undefined> {
  yield* list
  if (failure !== undefined) throw failure
  return undefined
}

export async function rejection(promise: Promise<unknown> | undefined): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not reject')
}
