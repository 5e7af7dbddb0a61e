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

export const operations = { ...fileOperations, execute } as const

export type OperationName = keyof typeof operations
export const operationNames = Object.keys(operations) as OperationName[]
export const fileOperationNames = Object.keys(fileOperations) as (keyof typeof fileOperations)[]

export function rowOf(name: OperationName): Operation {
  // a handler only ever gets values that its own schema checked
  return operations[name] as unknown as Operation
}
