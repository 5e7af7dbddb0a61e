import type { CommandNode, CompoundList, Word } from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { gather } from './outcomes.ts'
import { forget, join, type State } from '../invocation/state.ts'

export function judgeIf(analyst: Analyst, node: Extract<CommandNode, { type: 'If' }>, state: State): Outcome {
  let clause = analyst.list(node.clause.commands, state)
  const seen = [clause]
  let after: State | undefined
  const branch = (list: CompoundList, from: State | undefined) => {
    const outcome = analyst.list(list.commands, from ?? forget(state))
    seen.push(outcome)
    if (from !== undefined) after = join(after, join(outcome.success, outcome.failure))
  }
  branch(node.then, clause.success)
  for (const elif of node.elif) {
    clause = analyst.list(elif.clause.commands, clause.failure ?? forget(state))
    seen.push(clause)
    branch(elif.then, clause.success)
  }
  if (node.else === undefined) after = join(after, clause.failure)
  else branch(node.else, clause.failure)
  return gather(seen, after)
}

export function judgeCase(analyst: Analyst, node: Extract<CommandNode, { type: 'Case' }>, state: State): Outcome {
  judgeShown(analyst, node.word, state)
  let after: State | undefined = state
  const seen: Outcome[] = []
  for (const item of node.items) {
    for (const pattern of item.pattern) judgeShown(analyst, pattern, state)
    // A body can go on in the next one (`;&`).
    const outcome = analyst.list(item.body.commands, after ?? forget(state))
    seen.push(outcome)
    after = join(after, join(outcome.success, outcome.failure))
  }
  return gather(seen, after)
}

/** A text that the command compares: a path of this machine in it would make a difference. */
function judgeShown(analyst: Analyst, word: Word, state: State): void {
  if (analyst.value(word, state).tainted) refuse('shown', word.text)
}
