import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'

/** @param running the ids of commands and sessions @throws WorkspaceError `EBUSY` if there are any */
export function refuseBusy(operation: string, running: readonly string[], what = 'commands or sessions'): void {
  if (running.length === 0) return
  const shown = running.slice(0, 5).map((id) => `\`${id}\``)
  throw virtualError({
    code: 'EBUSY',
    operation,
    reason: `cannot begin while ${what} run: ${shown.join(', ')}`,
    remedy: 'wait for them, or end them',
  })
}

/** Names the changing calls and starting commands, which have no ids. */
export function begun({ state: { calls, starting } }: Context): readonly string[] {
  const others = calls.open.size + starting.size
  return others > 0 ? [`${others} that have begun`] : []
}
