import type { Interpreter } from '../interpreter/interpreter.ts'
import { sessionOf } from '../interpreter/shell.ts'
import { ArithmeticFault, evaluate } from './evaluate.ts'
import { Variables } from './variables.ts'

let running: Interpreter | undefined
let expanded = ''

/** Names the interpreter whose variables count, and returns the one before. */
export function evaluateFor(interpreter: Interpreter | undefined): Interpreter | undefined {
  const before = running
  running = interpreter
  return before
}

/** Keeps a text that the shell has expanded, until the expression after it is evaluated. */
export function keepExpanded(text: string): void {
  expanded = text
}

/**
 * A node of just-bash's arithmetic with the value of a text.
 *
 * @param text absent for the text that the shell has expanded last
 * @param within the variable of which this is a place: a place before its beginning is its end
 */
export function expressionNode(text?: string, within?: string): object {
  // just-bash reads the property once for each evaluation. A walk over the tree does not see it.
  return Object.defineProperty({ type: 'ArithNested' }, 'expression', { get: () => valueNode(text, within) })
}

function valueNode(text: string | undefined, within: string | undefined): object {
  if (running === undefined) throw new Error('no script runs')
  const variables = new Variables(running)
  try {
    let value = evaluate(text === undefined ? expanded : variables.expand(text), variables)
    if (within !== undefined && value < 0n) {
      const length = BigInt([...variables.get(within)].length)
      if (-value > length) value = length
    }
    return { type: 'ArithNumber', value: Number.isSafeInteger(Number(value)) ? Number(value) : value }
  } catch (error) {
    if (error instanceof RangeError) return sessionOf(running).refuse('$((…))', 'the expression is too deep')
    if (!(error instanceof ArithmeticFault)) throw error
    return { type: 'ArithSyntaxError', message: error.message }
  }
}
