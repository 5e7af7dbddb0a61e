import { WorkspaceError } from '@ws/core'

/**
 * `EIO`: what enclosed a command was killed by somebody else while the command ran, so that nobody can tell how the command
 * ended. Its output up to then can only be had from the streams of a spawned command.
 */
export function sandboxKilled(operation = 'exec'): WorkspaceError {
  return new WorkspaceError({
    code: 'EIO',
    operation,
    reason: 'the sandbox was killed from outside while the command ran; what the command had done stays done',
    remedy: 'look at what it left, then run it again; if it comes back, this machine may be out of memory',
  })
}
