import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'

import { requireDescriptors } from './room.ts'

/** Number of descriptors that a start needs besides its pipes: error pipe, null device, notice of the end. */
const ownDescriptors = 5

export function spawnChild<Child extends ChildProcess = ChildProcess>(
  program: string,
  parameters: readonly string[],
  options: SpawnOptions & { readonly stdio: readonly (string | number)[] },
): Child {
  const { stdio } = options
  const pipes = stdio.filter((slot) => slot === 'pipe').length
  requireDescriptors(2 * pipes + stdio.length + ownDescriptors) // @defence too many open files: in commands and sessions
  const child = spawn(program, parameters, options)
  // Node's types omit this case: without free descriptors, Node creates no streams.
  if ((child.stdio as unknown) !== undefined) return child as Child
  child.on('error', () => undefined) // the error is thrown below
  throw Object.assign(new Error('too few descriptors'), { code: 'EMFILE', syscall: 'spawn' })
}
