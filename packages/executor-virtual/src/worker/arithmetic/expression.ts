import type { Interpreter } from '../interpreter/interpreter.ts'
import { sessionOf } from '../interpreter/shell.ts'
import { evaluate } from './evaluate.ts'
import { ArithmeticFault } from './operators.ts'
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
 * @param within the variable of which this is an offset or a length
 */
export function expressionNode(text?: string, within?: Within): object {
  // just-bash reads the property once for each evaluation. A walk over the tree does not see it.
  return Object.defineProperty({ type: 'ArithNested' }, 'expression', { get: () => valueNode(text, within) })
}

export interface Within {
  readonly name: string
  readonly isOffset: boolean
}

let offset = 0n

/** just-bash takes an offset before the beginning for the beginning, and a length below 0 for 0. */
function placed(value: bigint, { name, isOffset }: Within, variables: Variables): bigint {
  const isSet = variables.has(name)
  const length = BigInt(isSet ? [...variables.get(name)].length : 0)
  if (isOffset) {
    offset = value < 0n ? length + value : value
    return offset < 0n ? length : offset
  }
  if (value < 0n && isSet && offset >= 0n && offset <= length && length + value < offset)
    throw new ArithmeticFault(`${name}: substring expression < 0`)
  return value
}

function valueNode(text: string | undefined, within: Within | undefined): object {
  if (running === undefined) throw new Error('no script runs')
  const variables = new Variables(running)
  try {
    const found = evaluate(text === undefined ? expanded : variables.expand(text), variables)
    const value = within === undefined ? found : placed(found, within, variables)
    return { type: 'ArithNumber', value: Number.isSafeInteger(Number(value)) ? Number(value) : value }
  } catch (error) {
    if (error instanceof RangeError) return sessionOf(running).refuse('$((…))', 'the expression is too deep')
    if (!(error instanceof ArithmeticFault)) throw error
    return { type: 'ArithSyntaxError', message: error.message }
  }
}

/** `let`: expressions that the shell has expanded. */
export function letExpressions(given: readonly string[]): { stdout: string; stderr: string; exitCode: number } {
  if (running === undefined) throw new Error('no script runs')
  const variables = new Variables(running)
  try {
    const values = given.map((text) => evaluate(text, variables))
    return { stdout: '', stderr: '', exitCode: values.at(-1) === 0n ? 1 : 0 }
  } catch (error) {
    if (!(error instanceof ArithmeticFault)) throw error
    return { stdout: '', stderr: `bash: let: ${error.message}\n`, exitCode: 1 }
  }
}
