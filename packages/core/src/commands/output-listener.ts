import type { CommandRequest, OutputChunk } from '../executor/contract.ts'
import type { ExecOptions } from '../workspace/types.ts'

type Listener = NonNullable<CommandRequest['onOutput']>

/** The listener of a command: the workspace's own, then the caller's. Absent where there is neither. */
export function listeners(own: Listener | undefined, given: ExecOptions['onOutput']): Listener | undefined {
  if (given === undefined) return own
  const callers = harmless(given)
  if (own === undefined) return callers
  return (chunk) => {
    own(chunk)
    callers(chunk)
  }
}

/** The caller's listener gets bytes of its own, and its errors are ignored, of its promise too. */
function harmless(listener: (chunk: OutputChunk) => unknown): Listener {
  return ({ stream, data }) => {
    try {
      const answer = listener({ stream, data: Uint8Array.from(data) })
      if (answer instanceof Promise) answer.catch(() => undefined)
    } catch {
      // The command and the other readers of its output go on.
    }
  }
}
