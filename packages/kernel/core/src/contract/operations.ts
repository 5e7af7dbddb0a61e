import type { AdapterCapabilities } from './capabilities.ts'
import type { StorageAdapter } from './adapter.ts'

export type Need = 'read' | 'write'

export interface OperationFacts {
  /** The right that rules must grant at the first path. Absent: checked as another operation, or not at all. */
  readonly need?: Need | undefined
  /** The operation follows a link at the end of its path; `createDirectory` only with `recursive`. */
  readonly follows: boolean
  /** The operation may create an entry: at its path, or at its destination. */
  readonly creates?: 'path' | 'destination' | undefined
  /** The operation changes the store: `EROFS` in a read-only store. */
  readonly changes: boolean
  /** The operation replaces or removes the entry at its path or destination, or changes its mode or times: `EBUSY` for the root. */
  readonly replaces?: true | undefined
  /** The capability that states who checks the operation's conditions. */
  readonly condition?: 'conditionalWrite' | 'conditionalDelete' | 'conditionalMove' | undefined
  /** The capability for this operation. A driver has the capability if it has the method. */
  readonly capability?: keyof AdapterCapabilities | undefined
  /** An adapter may lack the operation, and no capability reports this. */
  readonly optional?: true | undefined
  /** The index of the operation's options argument, from 0. Absent: no signal, or a signal that outlives the call. */
  readonly optionsAt?: number | undefined
}

const plain = { follows: false, changes: false } as const
const look = { ...plain, need: 'read', optionsAt: 1 } as const
const follow = { ...look, follows: true } as const
const change = { need: 'write', follows: false, changes: true, optionsAt: 1 } as const
const make = { ...change, creates: 'path' } as const
const put = { ...make, optionsAt: 2, follows: true, replaces: true, condition: 'conditionalWrite' } as const

/** The only table of operations, for the base, the layers, the rules and the conformance kit. They all deny an unlisted operation. */
export const operations = {
  stat: look,
  read: follow,
  list: follow,
  search: { ...follow, capability: 'search' },
  readSymlink: { ...look, capability: 'symlinks' },
  write: put,
  append: { ...put, capability: 'append' },
  createDirectory: { ...make, follows: true },
  createSymlink: { ...make, optionsAt: 2, capability: 'symlinks' },
  chmod: { ...change, optionsAt: 2, follows: true, replaces: true, capability: 'chmod' },
  utimes: { ...change, optionsAt: 2, follows: true, replaces: true, capability: 'utimes' },
  delete: { ...change, replaces: true, condition: 'conditionalDelete' },
  move: { ...change, optionsAt: 2, creates: 'destination', replaces: true, condition: 'conditionalMove' },
  copy: { ...change, optionsAt: 2, need: 'read', creates: 'destination', condition: 'conditionalMove' },
  readStream: { ...plain, optionsAt: 1, follows: true },
  flush: { ...plain, optionsAt: 0, capability: 'flush' },
  sync: { ...plain, optionsAt: 0, optional: true },
  refresh: { ...plain, optionsAt: 0, optional: true },
  watch: { ...plain, optionsAt: 1, capability: 'watch' },
  hostPath: { ...plain, capability: 'hostPath' },
  hostDirectory: { ...plain, capability: 'hostPath' },
  beginCommand: { ...plain, optional: true },
  createScratch: { ...plain, optional: true },
  createFork: { ...plain, optionsAt: 0, optional: true },
  close: plain,
} as const satisfies Readonly<Record<string, OperationFacts>>

export type AdapterOperation = keyof typeof operations

type Methods = Exclude<
  {
    [Key in keyof StorageAdapter]-?: Required<StorageAdapter>[Key] extends (...args: never) => unknown ? Key : never
  }[keyof StorageAdapter],
  symbol
>
/** Gives a compile error if the contract and the table differ. */
type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : never) : never
const isComplete: Same<Methods, AdapterOperation> = true
void isComplete

export type OperationCapability = {
  [Name in AdapterOperation]: (typeof operations)[Name] extends {
    readonly capability: infer Capability extends keyof AdapterCapabilities
  }
    ? Capability
    : never
}[AdapterOperation]

export type OptionalOperation = {
  [Name in AdapterOperation]: (typeof operations)[Name] extends
    | { readonly capability: string }
    | { readonly optional: true }
    ? Name
    : never
}[AdapterOperation]

export const optionalOperations = (Object.keys(operations) as AdapterOperation[]).filter(
  (name): name is OptionalOperation => 'capability' in operations[name] || 'optional' in operations[name],
)

export type FileOperation = {
  [Name in AdapterOperation]: (typeof operations)[Name] extends { readonly need: Need } ? Name : never
}[AdapterOperation]

export const fileOperations = (Object.keys(operations) as AdapterOperation[]).filter(
  (name): name is FileOperation => 'need' in operations[name],
)

/** Returns the facts of an operation. For an unknown operation, returns facts that make every check refuse. */
export function factsOf(operation: string): OperationFacts {
  return Object.hasOwn(operations, operation) ? operations[operation as AdapterOperation] : make
}
