import { type CommandNode, staticText } from '@ws/command-parser'

import { isFileComparison, isFileTest, isLinkTest } from '../programs/test.ts'
import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import type { Argument } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { gather } from './outcomes.ts'
import { isArithmetic, type State } from '../invocation/state.ts'
import { isNumberWord } from './words.ts'

type Expression = Extract<CommandNode, { type: 'TestCommand' }>['expression']

/** `[[ … ]]` */
export function judgeTest(analyst: Analyst, expression: Expression, state: State): Outcome {
  switch (expression.type) {
    case 'TestUnary': {
      const argument = analyst.argument(expression.operand, state)
      const call = analyst.call('[[', [argument], state)
      const { operator } = expression
      if (isFileTest(operator)) call.path(argument, 'read')
      else if (isLinkTest(operator)) call.path(argument, 'look')
      else if (operator === '-v' || operator === '-R') refuse('construct', expression.operand.text)
      else judgeText(argument, operator === '-n' || operator === '-z')
      return call.done({ prints: false })
    }
    case 'TestBinary': {
      const call = analyst.call('[[', [], state)
      for (const word of [expression.left, expression.right]) {
        const argument = analyst.argument(word, state)
        if (isFileComparison(expression.operator)) call.path(argument, 'read')
        else judgeText(argument, false)
        // Both sides are arithmetic, which can run commands.
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator) && !isArithmetic(staticText(word) ?? word.text, state))
          if (!isNumberWord(argument.value)) refuse('unknown', word.text)
      }
      return call.done({ prints: false })
    }
    case 'TestLogical':
      return gather(
        expression.operands.map((operand) => judgeTest(analyst, operand, state)),
        state,
      )
    case 'TestNot':
      return judgeTest(analyst, expression.operand, state)
    default:
      return judgeTest(analyst, expression.expression, state)
  }
}

function judgeText({ word, value }: Argument, emptiness: boolean): void {
  if (value.tainted && !emptiness) refuse('shown', word.text)
}
