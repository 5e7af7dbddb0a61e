import { WorkspaceError } from '../errors.ts'
import type { CommandResult } from './contract.ts'

const results = new WeakMap<object, CommandResult>()

/**
 * For executors. `EIO`: what enclosed a command was killed by somebody else while the command ran, so that nobody can tell
 * how the command ended. What is known of it goes along, for {@link getCommandResult}.
 */
export function sandboxKilled(result: CommandResult): WorkspaceError {
  const error = new WorkspaceError({
    code: 'EIO',
    operation: 'exec',
    reason: 'the sandbox was killed while the command ran; what the command had done stays done',
    remedy: 'look at what it left, then run it again; if it comes back, this machine may be out of memory',
  })
  results.set(error, result)
  return error
}

/** The output up to then, of a command whose sandbox was killed; `undefined` for every other error. */
export function getCommandResult(error: unknown): CommandResult | undefined {
  return typeof error === 'object' && error !== null ? results.get(error) : undefined
}
