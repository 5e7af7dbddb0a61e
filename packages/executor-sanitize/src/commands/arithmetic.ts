import type { ArithmeticExpression } from '@ws/command-parser'

import { refuseDangerous } from '../programs/starters.ts'
import { type State, withVariable } from '../invocation/state.ts'

/** An arithmetic command always assigns a number. */
export function numbered(state: State, expressions: readonly (ArithmeticExpression | undefined)[]): State {
  let result = state
  for (const expression of expressions) {
    const target =
      expression?.type === 'ArithmeticBinary' && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(expression.operator)
        ? expression.left
        : expression?.type === 'ArithmeticUnary' && /^(?:\+\+|--)$/.test(expression.operator)
          ? expression.operand
          : undefined
    if (target?.type !== 'ArithmeticWord' || !/^[A-Za-z_]\w*$/.test(target.value)) continue
    refuseDangerous(target.value, target.value)
    result = withVariable(result, target.value, { kind: 'number' })
  }
  return result
}
