import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'

import { requireDescriptors } from './room.ts'

/** Descriptors of a start besides its pipes: error, null device, news of its end. */
const ownDescriptors = 5

export function spawnChild<Child extends ChildProcess = ChildProcess>(
  program: string,
  parameters: readonly string[],
  options: SpawnOptions & { readonly stdio: readonly (string | number)[] },
): Child {
  const { stdio } = options
  const pipes = stdio.filter((slot) => slot === 'pipe').length
  requireDescriptors(2 * pipes + stdio.length + ownDescriptors)
  const child = spawn(program, parameters, options)
  // Node's types do not know it: without descriptors it makes no streams.
  if ((child.stdio as unknown) !== undefined) return child as Child
  child.on('error', () => undefined) // it is thrown here
  throw Object.assign(new Error('too few descriptors'), { code: 'EMFILE', syscall: 'spawn' })
}
