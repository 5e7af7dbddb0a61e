/** The measured operations. `path` is relative to the directory that all share: `dir/file`. */
export interface Operations {
  read(path: string): Promise<unknown>
  stat(path: string): Promise<unknown>
  /** Names and types. */
  list(path: string): Promise<unknown>
  /** Names, types, sizes and times. */
  listWithDetails(path: string): Promise<unknown>
  listTree(path: string): Promise<unknown>
  write(path: string, content: Uint8Array): Promise<unknown>
  /** Fails where there is something already. */
  create(path: string, content: Uint8Array): Promise<unknown>
}

export type OperationName = keyof Operations

/** One implementation, over the same directory as all others. An operation that it does not offer is absent. */
export interface Contender {
  readonly name: string
  readonly operations: Partial<Operations>
}

export type OpenContender = (directory: string) => Promise<Contender>
