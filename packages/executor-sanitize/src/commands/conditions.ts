import type { CommandNode } from '@ws/command-parser'

import { isFileComparison, isFileTest, isLinkTest } from '../programs/test.ts'
import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import type { Argument } from '../invocation/invocation.ts'
import { type Outcome, together } from '../invocation/analysis-context.ts'

type Expression = Extract<CommandNode, { type: 'TestCommand' }>['expression']

/** `[[ … ]]` */
export function judgeTest(analyst: Analyst, expression: Expression): Outcome {
  switch (expression.type) {
    case 'TestUnary': {
      const argument = analyst.argument(expression.operand)
      const call = analyst.call('[[', [argument])
      const { operator } = expression
      if (isFileTest(operator)) call.path(argument, 'read')
      else if (isLinkTest(operator)) call.path(argument, 'look')
      else if (operator === '-v' || operator === '-R') refuse('construct', expression.operand.text)
      else if (operator !== '-n' && operator !== '-z') judgeText(argument)
      return call.done({ prints: false })
    }
    case 'TestBinary': {
      const call = analyst.call('[[', [])
      for (const word of [expression.left, expression.right]) {
        const argument = analyst.argument(word)
        if (isFileComparison(expression.operator)) call.path(argument, 'read')
        else judgeText(argument)
        // Both sides are arithmetic, which can run commands.
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator) && !/^-?\d+$/.test(argument.value.text ?? ''))
          refuse('arithmetic', word.text)
      }
      return call.done({ prints: false })
    }
    case 'TestLogical':
      return together(...expression.operands.map((operand) => judgeTest(analyst, operand)))
    case 'TestNot':
      return judgeTest(analyst, expression.operand)
    default:
      return judgeTest(analyst, expression.expression)
  }
}

/** A text that is compared: a path of this machine in it would make a difference. */
export function judgeText({ word, value }: Argument): void {
  if (value.tainted) refuse('shown', word.text)
}
