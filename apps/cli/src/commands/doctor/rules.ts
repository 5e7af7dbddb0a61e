import { isWorkspaceError, type Explanation } from '@ws/core'

import type { ExecutorName } from '../../config/executors.ts'
import type { CommandContext } from '../../command-context.ts'
import { inOwnWords } from '../../own-words.ts'
import { howToPack, MissingPackagesError } from '../../optional/packages.ts'

/** The rules' answer to `exec`: `deny` with reasons, or `allow` with the executor. */
export interface Rules extends Pick<Explanation, 'effect' | 'unenforceable' | 'renameBorders' | 'matches'> {
  /** The executor that would run or refuse commands; absent if no executor is usable. */
  readonly executor?: ExecutorName | undefined
  /** Reasons why preferred executors cannot be used. */
  readonly passedOver: readonly {
    readonly executor: ExecutorName
    readonly reason: string
    readonly remedy?: string | undefined
  }[]
  /** The reason why no workspace can be opened for commands. */
  readonly problem?: string | undefined
}

/** Opens the workspace as `exec` would, with one executor after the other, and explains the rules. */
export async function inspectRules({ settings, open, signal }: CommandContext): Promise<Rules> {
  const passedOver: Rules['passedOver'][number][] = []
  for (const executor of settings.executors) {
    try {
      await using workspace = await open({ executors: [executor] })
      const explained = await workspace.explain({ operation: 'exec', path: workspace.root })
      const { effect, unenforceable, renameBorders, matches, reason } = explained
      const problem = effect === 'deny' && unenforceable === undefined ? reason : undefined
      return { effect, executor, passedOver, unenforceable, renameBorders, matches, problem }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof MissingPackagesError) {
        const { packages } = error
        return { effect: 'deny', passedOver, problem: `${packages.join(', ')} missing; ${howToPack(packages)}` }
      }
      if (!isWorkspaceError(error)) throw error
      if (error.code !== 'ENOEXECUTOR') return { effect: 'deny', passedOver, problem: error.message }
      const { reason, remedy } = inOwnWords(error, 'doctor')
      passedOver.push({ executor, reason: reasonOf(reason, executor), remedy })
    }
  }
  return { effect: 'deny', passedOver }
}

/** The reason for one executor, without the words that only a list of reasons needs. */
function reasonOf(reason: string, executor: string): string {
  const [, only] = /^no executor can be used \((.*)\)$/su.exec(reason) ?? []
  return (only ?? reason).replaceAll(`${executor}: `, '')
}
