import type { AdapterCapabilities } from './capabilities.ts'
import type { StorageAdapter } from './contract.ts'

/** What an operation of a {@link StorageAdapter} does. */
export interface OperationFacts {
  /** What a rule must allow at the path. */
  readonly need: 'read' | 'write'
  /** It follows a link at the end of its path. */
  readonly follows: boolean
  /** It may make an entry that was not there. */
  readonly creates: boolean
  /** It changes the store: `EROFS` in a read-only one. */
  readonly changes: boolean
  /** The capability that says whether an adapter has it. Absent: every adapter has it. */
  readonly capability?: keyof AdapterCapabilities | undefined
}

const look = { need: 'read', follows: false, creates: false, changes: false } as const
const follow = { ...look, follows: true } as const
const change = { need: 'write', follows: false, creates: false, changes: true } as const
const make = { ...change, creates: true } as const

/**
 * The operations of an adapter. This is their one table: the base of adapters, the layers, the rules and the kit read it.
 * An operation that is not in it is denied by all of them.
 */
export const operations = {
  stat: look,
  read: follow,
  readStream: follow,
  list: follow,
  search: { ...follow, capability: 'search' },
  readSymlink: { ...look, capability: 'symlinks' },
  write: { ...make, follows: true },
  append: { ...make, follows: true, capability: 'append' },
  createDirectory: make,
  createSymlink: { ...make, capability: 'symlinks' },
  delete: change,
  move: make,
  copy: make,
  flush: { ...look, capability: 'flush' },
  hostPath: { ...look, capability: 'hostPath' },
  hostDirectory: { ...look, capability: 'hostPath' },
  createScratch: look,
  close: look,
} as const satisfies Readonly<Record<string, OperationFacts>>

/** The operations of a {@link StorageAdapter}, by their names. */
export type AdapterOperation = keyof typeof operations

type Methods = Exclude<
  {
    [Key in keyof StorageAdapter]-?: Required<StorageAdapter>[Key] extends (...args: never) => unknown ? Key : never
  }[keyof StorageAdapter],
  symbol
>
/** Fails to compile while the contract has an operation that the table lacks, or the other way round. */
type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : never) : never
const isComplete: Same<Methods, AdapterOperation> = true
void isComplete

/** The facts of an operation; for a name that is not in the table, those that everything denies. */
export function factsOf(operation: string): OperationFacts {
  return Object.hasOwn(operations, operation) ? operations[operation as AdapterOperation] : make
}
