import type { Interpreter } from '../state/interpreter.ts'
import { type Reach, sessionOf, shellOf } from '../state/shell.ts'
import { evaluate, indexOf } from './evaluate.ts'
import { expand } from './expand.ts'
import { ArithmeticFault } from './operators.ts'
import { Variables } from './variables.ts'

let running: Interpreter | undefined
const expanded: string[] = []

/** Selects the interpreter whose variables are used. Returns the interpreter selected before. */
export function evaluateFor(interpreter: Interpreter | undefined): Interpreter | undefined {
  const before = running
  running = interpreter
  return before
}

/** Keeps a text that the shell has expanded, for the expression that is evaluated next. */
export function keepExpanded(text: string): void {
  expanded.push(text)
}

const takeExpanded = () => expanded.pop() ?? ''

export interface Use {
  /** How much of the script a fault ends in bash. In a redirection, that depends on the program. */
  readonly reach?: Reach | 'redirection' | undefined
  /** True for a part of `for ((…))`, where a fault ends the loop. */
  readonly inLoop?: boolean
  /** The variable `x`, for the offset or length of `${x:offset:length}`. */
  readonly within?: { readonly name: string; readonly isOffset: boolean } | undefined
}

/** Makes a just-bash arithmetic node with the value of a text. @param text default: the text that the shell expanded last */
export function expressionNode(text?: string, use: Use = {}): object {
  return nodeOf(use, (variables) => {
    const found = evaluate(text === undefined ? takeExpanded() : expand(text, variables), variables)
    return use.within === undefined ? found : placed(found, use.within, variables)
  })
}

/** Makes a node with the number that an assignment computes from the last expanded text. */
export function numberNode(added: string | undefined): object {
  return nodeOf({ reach: 'script' }, (variables, interpreter) => {
    const before = added === undefined ? '' : variables.get(added)
    return assignedNumber(interpreter, takeExpanded(), before)
  })
}

/** The number to assign to a variable with the attribute `-i`. just-bash will parse the number again as a double. */
export function assignedNumber(interpreter: Interpreter, text: string, before = ''): bigint {
  const variables = new Variables(interpreter)
  const value = BigInt.asIntN(64, evaluate(before, variables) + evaluate(text, variables))
  return Number.isSafeInteger(Number(value))
    ? value
    : sessionOf(interpreter).refuse('declare -i', 'a number from 2^53 on')
}

export function comparisonNode(operator: string): object {
  return nodeOf({ reach: 'command' }, (variables) => {
    const right = takeExpanded()
    const [first, second] = [evaluate(takeExpanded(), variables), evaluate(right, variables)]
    const order = first < second ? 'lt le ne' : first > second ? 'gt ge ne' : 'eq le ge'
    return BigInt(order.includes(operator.slice(1)))
  })
}

export interface Element {
  readonly name: string
  /** Default: the text that the shell expanded last. */
  readonly subscript?: string | undefined
  /** The variable that stores the key. */
  readonly kept: string
  readonly use: 'value' | 'default' | 'assignment' | 'list'
}

/** Makes a node that stores the key of an element. just-bash itself would treat a fault as 0, and `$((…))` as a command. */
export function subscriptNode({ name, subscript, kept, use }: Element, reach: Use['reach']): object {
  return nodeOf({ reach }, (variables, interpreter) => {
    const text = subscript === undefined ? takeExpanded() : expand(subscript, variables)
    const key = variables.isMap(name) ? text : String(indexOf(text, variables))
    if (use === 'default' || use === 'assignment') variables.asList(name)
    if (use === 'list' && !variables.isMap(name))
      sessionOf(interpreter).refuse(`${name}=([…]=…)`, 'an index that is an expression; use name[…]=…')
    if (
      use === 'assignment' &&
      key.startsWith('-') &&
      !variables.isMap(name) &&
      variables.place(name, BigInt(key)) === ''
    )
      throw new ArithmeticFault(`${name}[${text}]: bad array subscript`)
    interpreter.ctx.state.env.set(kept, key)
    return 0n
  })
}

function nodeOf(use: Use, find: (variables: Variables, interpreter: Interpreter) => bigint): object {
  // just-bash reads the property once for each evaluation. Walks over the tree skip the property.
  return Object.defineProperty({ type: 'ArithNested' }, 'expression', { get: () => valueNode(use, find) })
}

function valueNode(use: Use, find: (variables: Variables, interpreter: Interpreter) => bigint): object {
  if (running === undefined) throw new Error('no script runs')
  const shell = shellOf(running)
  // After a fault in the first part or the step of a loop, the condition is 0 and the loop ends.
  if (use.inLoop === true && shell.failed !== undefined) return { type: 'ArithNumber', value: 0 }
  try {
    const value = find(new Variables(running), running)
    return { type: 'ArithNumber', value: Number.isSafeInteger(Number(value)) ? Number(value) : value }
  } catch (error) {
    if (error instanceof RangeError) return sessionOf(running).refuse('$((…))', 'the expression is too deep')
    if (!(error instanceof ArithmeticFault)) throw error
    const inRedirection = use.reach === 'redirection'
    const reach = error.reach ?? (inRedirection ? 'line' : ((use.reach as Reach | undefined) ?? 'line'))
    shell.failed = { message: error.message, reach, inRedirection }
    return use.inLoop === true ? { type: 'ArithNumber', value: 0 } : faultNode(error.message)
  }
}

export const faultNode = (message: string) => ({ type: 'ArithSyntaxError', message })

let offset = 0n

/** Corrects an offset or length: just-bash treats an offset before the beginning as the beginning, and a negative length as 0. */
function placed(value: bigint, { name, isOffset }: NonNullable<Use['within']>, variables: Variables): bigint {
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
