import { isWorkspaceError, quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'

import { problemOf } from '../answers/from-error.ts'
import { ToolProblem } from '../answers/problem.ts'
import type { Call, Change } from '../session/session.ts'
import { commit, type Committed } from './commit.ts'
import { planFiles, type FileChange } from './plan-files.ts'

/** Milliseconds for which a change is planned again after conflicts, and the longest pause between two tries. */
const patienceMs = 5000
const longestPauseMs = 100

/**
 * Checks all changes, then writes each file under the checked version. On failure, undoes every write. Retries conflicts for 5 s.
 * @throws ToolProblem with the files that remain changed because undoing failed
 */
export async function changeFiles(call: Call, changes: readonly FileChange[]): Promise<readonly Change[]> {
  const paths = changes.flatMap((change) =>
    change.type === 'update' && change.moveTo !== undefined ? [change.path, change.moveTo] : [change.path],
  )
  return call.alone(paths, async () => {
    const end = performance.now() + patienceMs
    for (let tries = 1; ; tries += 1) {
      const done: Committed[] = []
      try {
        for (const planned of await planFiles(call, changes)) {
          call.signal?.throwIfAborted()
          await commit(call, planned, done)
        }
        return keep(call, done)
      } catch (error) {
        const stuck = await takeBack(done)
        if (stuck.length > 0) throw halfDone(error, keep(call, stuck))
        if (!isWorkspaceError(error, 'ECONFLICT') || performance.now() >= end) throw error
        await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(longestPauseMs, 2 ** tries)))
      }
    }
  })
}

function keep(call: Call, done: readonly Committed[]): readonly Change[] {
  for (const { change } of done) {
    if (change.after !== undefined) call.session.see(change.path, change.after)
    call.record(change)
  }
  return done.map(({ change }) => change)
}

/** Undoes the last change first. @returns the changes that could not be undone, the oldest first */
async function takeBack(done: readonly Committed[]): Promise<readonly Committed[]> {
  const stuck: Committed[] = []
  for (const one of done.toReversed()) {
    try {
      await one.undo()
    } catch {
      stuck.unshift(one) // ignored, because the caller reports the changes that remain
    }
  }
  return stuck
}

function halfDone(error: unknown, stuck: readonly Change[]): ToolProblem {
  const { sentence, data } = problemOf(error)
  const files = stuck.map(({ path, change }) => `${quotePath(path)} (${change})`).join(', ')
  const [first] = stuck
  return new ToolProblem({
    sentence: `${sentence.replace(/\.$/u, '')}; these changes were made before, and could not be taken back: ${files}`,
    remedy: 'all other files are as they were; look at these before you go on',
    next: { operation: 'inspect', arguments: { path: first?.path ?? ('.' as VirtualPath) } },
    data: { ...data, changed: stuck.map(({ path }) => path) },
  })
}
