import {
  operations as table,
  type AdapterOperation,
  type fileOperations,
  type LinkSignal,
  type MountPath,
  type OperationFacts,
  type SignalOption,
  type StorageAdapter,
} from '@ws/core/adapter'
import { body, encode, at } from './case.ts'
import { lackOf, type Needs } from './needs.ts'

export interface Operation {
  readonly name: string
  readonly argument: LinkSignal['argument']
  readonly changes: boolean
  /** True if a link at the last name of the path also ends the operation. */
  readonly follows: boolean
  readonly run: (adapter: StorageAdapter, path: MountPath, options?: SignalOption) => Promise<unknown> | undefined
}

/** Paths of move and copy. Tests with these paths create `/source`, but not `/destination`. */
const source = at('/source')
const destination = at('/destination')

/** Adds the facts about an operation from the core's table. The first word of the name is the operation. */
function operation(
  name: AdapterOperation | `${AdapterOperation} ${string}`,
  run: Operation['run'],
  flags: Partial<Pick<Operation, 'argument' | 'follows'>> = {},
): Operation {
  const { changes, follows } = factsOf(name)
  return { name, argument: 'path', changes, follows, ...flags, run }
}

function factsOf(name: string): OperationFacts {
  return table[name.split(' ')[0] as AdapterOperation]
}

/** All operations that take a path and options. An operation with several forms of call has several entries. */
const calls: Readonly<Record<(typeof fileOperations)[number] | 'readStream', readonly Operation[]>> = {
  stat: [operation('stat', (adapter, path, options) => adapter.stat(path, options))],
  read: [operation('read', (adapter, path, options) => adapter.read(path, options))],
  readStream: [operation('readStream', (adapter, path, options) => adapter.readStream(path, options))],
  list: [operation('list', (adapter, path, options) => adapter.list(path, options).next())],
  search: [
    operation('search', (adapter, path, options) => adapter.search?.({ pattern: 'x', in: path }, options).next()),
  ],
  readSymlink: [operation('readSymlink', (adapter, path, options) => adapter.readSymlink?.(path, options))],
  write: [
    operation('write', (adapter, path, options) => adapter.write(path, encode('new'), options)),
    operation('write with parents', (adapter, path, options) =>
      adapter.write(path, body('new'), { ...options, parents: true }),
    ),
  ],
  append: [operation('append', (adapter, path, options) => adapter.append?.(path, encode('new'), options))],
  chmod: [operation('chmod', (adapter, path, options) => adapter.chmod?.(path, 0o600, options))],
  utimes: [operation('utimes', (adapter, path, options) => adapter.utimes?.(path, { modifiedAt: 1_000 }, options))],
  createDirectory: [
    operation('createDirectory', (adapter, path, options) => adapter.createDirectory(path, options), {
      follows: false,
    }),
    operation('createDirectory with recursive', (adapter, path, options) =>
      adapter.createDirectory(path, { ...options, recursive: true }),
    ),
  ],
  createSymlink: [
    operation('createSymlink', (adapter, path, options) => adapter.createSymlink?.(path, 'target', options)),
  ],
  delete: [
    operation('delete', (adapter, path, options) => adapter.delete(path, { ...options, recursive: true })),
    operation('delete with force', (adapter, path, options) => adapter.delete(path, { ...options, force: true })),
  ],
  move: [
    operation('move from', (adapter, path, options) => adapter.move(path, destination, options), {
      argument: 'source',
    }),
    operation('move to', (adapter, path, options) => adapter.move(source, path, { ...options, parents: true }), {
      argument: 'destination',
    }),
  ],
  copy: [
    operation(
      'copy from',
      (adapter, path, options) => adapter.copy(path, destination, { ...options, recursive: true }),
      { argument: 'source' },
    ),
    operation('copy to', (adapter, path, options) => adapter.copy(source, path, { ...options, parents: true }), {
      argument: 'destination',
    }),
  ],
}

export const operations: readonly Operation[] = Object.values(calls).flat()

/** Returns the capabilities that tests of an operation need. Without these, the operation is absent, or refused before other checks. */
export function needsOf({ name, changes }: Operation): Needs {
  const { capability } = factsOf(name)
  return { ...(capability && { [capability]: true }), ...(changes && { readOnly: false }) }
}

export function operationsOf({ capabilities }: StorageAdapter): Operation[] {
  return operations.filter((operation) => lackOf(needsOf(operation), capabilities) === undefined)
}
