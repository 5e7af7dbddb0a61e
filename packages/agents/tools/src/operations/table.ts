import { remove } from './delete.ts'
import { download } from './download.ts'
import { execute } from './execute.ts'
import { find } from './find.ts'
import { inspect } from './inspect.ts'
import { list } from './list.ts'
import type { Operation } from './operation.ts'
import { readChunked } from './read-chunked.ts'
import { read } from './read.ts'
import { replace } from './replace.ts'
import { search } from './search.ts'
import { copy, move, rename } from './transfer.ts'
import { write } from './write.ts'

/** The operations on files, in the order in which models see them [FS1]. */
export const fileOperations = {
  read,
  read_chunked: readChunked,
  inspect,
  write,
  replace,
  search,
  find,
  download,
  copy,
  rename,
  move,
  delete: remove,
  list,
} as const

/** Every operation by name. Faces add names and shapes; they do nothing of their own. */
export const operations = { ...fileOperations, execute } as const

export type OperationName = keyof typeof operations
export const operationNames = Object.keys(operations) as OperationName[]
export const fileOperationNames = Object.keys(fileOperations) as (keyof typeof fileOperations)[]

/** A row by name, where its type does not matter. */
export function rowOf(name: OperationName): Operation {
  // a handler only ever gets what its own schema checked
  return operations[name] as unknown as Operation
}
