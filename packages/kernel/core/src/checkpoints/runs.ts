import type { WorkspaceState } from '../calls/context.ts'
import type { Change } from '../contract/checkpoints.ts'

/** A command or session that may change files. */
export interface CommandRun {
  /** Returns the changes since the start. Absent if the caller did not ask for them. */
  readonly changes?: (() => Promise<readonly Change[]>) | undefined
  /** Counts the command as running until it has ended, or did not start. */
  during<Started extends Ending>(starting: Promise<Started>): Promise<Started>
}

interface Ending {
  wait(): Promise<unknown>
}

/** Knows the commands and sessions that overlap. */
export class Runs {
  readonly #calls: WorkspaceState['calls']
  readonly #open = new Set<{ isShared: boolean }>()

  constructor({ calls }: Pick<WorkspaceState, 'calls'>) {
    this.#calls = calls
  }

  /** `isShared` returns whether another command, session or changing call has run since. `during` calls `onEnd` at the end. */
  begin(onEnd: () => void): CommandRun & { readonly isShared: () => boolean; readonly end: () => void } {
    const { begun, open } = this.#calls
    const run = { isShared: this.#open.size > 0 || open.size > 0 }
    for (const other of this.#open) other.isShared = true
    this.#open.add(run)
    const end = (): void => {
      this.#open.delete(run)
      onEnd()
    }
    return {
      isShared: () => run.isShared || this.#calls.begun !== begun,
      end,
      async during(starting) {
        try {
          const started = await starting
          // before the callers' handlers: the next command does not overlap with this one
          started.wait().then(end, end)
          return started
        } catch (error) {
          end()
          throw error
        }
      },
    }
  }
}
