import type { LinkArgument, MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'
import { body, encode, at } from './case.ts'
import { lackOf, type Needs } from './needs.ts'

/** One way to call an operation with a path: for what all operations have in common. */
export interface Operation {
  readonly name: string
  /** Which of its arguments the path is. */
  readonly argument: LinkArgument
  readonly changes: boolean
  /** A link at the end is in the way too. */
  readonly follows: boolean
  /** Absent where the adapter lacks the operation. */
  readonly run: (adapter: StorageAdapter, path: MountPath, options?: SignalOption) => Promise<unknown> | undefined
}

/** The other path of move and copy; tests that use these must have made `/source`, and not `/destination`. */
const source = at('/source')
const destination = at('/destination')

function operation(
  name: string,
  run: Operation['run'],
  flags: Partial<Omit<Operation, 'name' | 'run'>> = {},
): Operation {
  return { name, argument: 'path', changes: false, follows: false, ...flags, run }
}

const changes = { changes: true }

/** Every operation that takes a path. */
export const operations: readonly Operation[] = [
  operation('stat', (adapter, path, options) => adapter.stat(path, options)),
  operation('read', (adapter, path, options) => adapter.read(path, options), { follows: true }),
  operation('readStream', (adapter, path, options) => adapter.readStream(path, options), { follows: true }),
  operation('list', (adapter, path, options) => adapter.list(path, options).next(), { follows: true }),
  operation('search', (adapter, path, options) => adapter.search?.({ pattern: 'x', in: path }, options).next(), {
    follows: true,
  }),
  operation('readSymlink', (adapter, path, options) => adapter.readSymlink?.(path, options)),
  operation('write', (adapter, path, options) => adapter.write(path, encode('new'), options), {
    ...changes,
    follows: true,
  }),
  operation(
    'write with parents',
    (adapter, path, options) => adapter.write(path, body('new'), { ...options, parents: true }),
    {
      ...changes,
      follows: true,
    },
  ),
  operation('append', (adapter, path, options) => adapter.append?.(path, encode('new'), options), {
    ...changes,
    follows: true,
  }),
  operation('createDirectory', (adapter, path, options) => adapter.createDirectory(path, options), changes),
  operation(
    'createDirectory with recursive',
    (adapter, path, options) => adapter.createDirectory(path, { ...options, recursive: true }),
    { ...changes, follows: true },
  ),
  operation('createSymlink', (adapter, path, options) => adapter.createSymlink?.(path, 'target', options), changes),
  operation('delete', (adapter, path, options) => adapter.delete(path, { ...options, recursive: true }), changes),
  operation(
    'delete with force',
    (adapter, path, options) => adapter.delete(path, { ...options, force: true }),
    changes,
  ),
  operation('move from', (adapter, path, options) => adapter.move(path, destination, options), {
    ...changes,
    argument: 'source',
  }),
  operation('move to', (adapter, path, options) => adapter.move(source, path, { ...options, parents: true }), {
    ...changes,
    argument: 'destination',
  }),
  operation('copy from', (adapter, path, options) => adapter.copy(path, destination, { ...options, recursive: true }), {
    ...changes,
    argument: 'source',
  }),
  operation('copy to', (adapter, path, options) => adapter.copy(source, path, { ...options, parents: true }), {
    ...changes,
    argument: 'destination',
  }),
]

/** The capability that says whether an operation is there; absent for those that every adapter has. */
const capabilityOf: Readonly<Record<string, 'append' | 'symlinks' | 'search'>> = {
  append: 'append',
  createSymlink: 'symlinks',
  readSymlink: 'symlinks',
  search: 'search',
}

/** The needs of the tests of one operation. They are skipped where it is absent, or refused before anything else. */
export function needsOf({ name, changes }: Operation): Needs {
  const capability = capabilityOf[name]
  return { ...(capability && { [capability]: true }), ...(changes && { readOnly: false }) }
}

/** Those that the adapter has, without those a read-only one refuses before it looks at anything. */
export function operationsOf({ capabilities }: StorageAdapter): Operation[] {
  return operations.filter((operation) => lackOf(needsOf(operation), capabilities) === undefined)
}
