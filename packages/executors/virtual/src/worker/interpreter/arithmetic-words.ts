import type { ExecResult } from '#just-bash'

import { assignedNumber } from '../arithmetic/expression.ts'
import { expand, needsShell } from '../arithmetic/expand.ts'
import { evaluate, indexOf } from '../arithmetic/evaluate.ts'
import { ArithmeticFault } from '../arithmetic/operators.ts'
import { Variables } from '../arithmetic/variables.ts'
import type { Word } from '../state/nodes.ts'
import { fail } from './discard.ts'
import { attributes } from '../state/locals.ts'
import { sessionOf } from '../state/shell.ts'
import { numberWord } from '../syntax/arithmetic.ts'
import type { Command, Interpreter } from '../state/interpreter.ts'

type SimpleCommand = Extract<Command, { readonly type: 'SimpleCommand' }>

export async function letExpressions(interpreter: Interpreter, given: readonly string[]): Promise<ExecResult> {
  const variables = new Variables(interpreter)
  try {
    const values = given.map((text) => evaluate(text, variables))
    return { stdout: '', stderr: '', exitCode: values.at(-1) === 0n ? 1 : 0 }
  } catch (error) {
    if (!(error instanceof ArithmeticFault)) throw error
    if (error.reach === 'script') return fail(interpreter, { message: error.message, reach: 'script' })
    return { stdout: '', stderr: `bash: let: ${error.message}\n`, exitCode: 1 }
  }
}

/** Evaluates the arithmetic words of a builtin. just-bash treats a fault in such a word as 0. */
export async function evaluatedWords(
  interpreter: Interpreter,
  name: string,
  given: readonly string[],
): Promise<readonly string[]> {
  try {
    return words(interpreter, name, given)
  } catch (error) {
    if (!(error instanceof ArithmeticFault)) throw error
    return fail(interpreter, { message: `${name}: ${error.message}`, reach: 'script' })
  }
}

const testing: ReadonlySet<string> = new Set(['[', 'printf', 'test'])
const declaring: ReadonlySet<string> = new Set(['declare', 'local', 'typeset', 'export', 'readonly'])

function words(interpreter: Interpreter, name: string, given: readonly string[]): readonly string[] {
  const isDeclared = declaring.has(name)
  if (name === 'unset' && !given.some((word) => /^-\w*f/.test(word)))
    for (const word of given) for (const attribute of attributes) interpreter.ctx.state[attribute]?.delete(word)
  const isInteger = isDeclared && given.some((word) => /^-[a-zA-Z]*i/.test(word))
  return given.map((word, index) => {
    const element = /^([A-Za-z_]\w*)\[(.+?)\](?=$|\+?=)/s.exec(word)
    const isVariable = isDeclared || name === 'unset' || (testing.has(name) && given[index - 1] === '-v')
    if (element !== null && isVariable) return withIndex(interpreter, element, word)
    const [, start = '', text = ''] = (isInteger && /^(\w+=)(.*)$/s.exec(word)) || []
    if (text.startsWith('(')) sessionOf(interpreter).refuse(`${name} -i`, 'of a list; use $(( … ))')
    return start === '' ? word : `${start}${assignedNumber(interpreter, text)}`
  })
}

function withIndex(
  interpreter: Interpreter,
  [whole, name = '', subscript = '']: RegExpExecArray,
  word: string,
): string {
  const variables = new Variables(interpreter)
  if (/^[@*]$/.test(subscript) || variables.isMap(name)) return word
  variables.asList(name)
  if (/^-?\d{1,15}$/.test(subscript) && !subscript.startsWith('0')) return word
  if (needsShell(subscript))
    sessionOf(interpreter).refuse(`${name}[${subscript}]`, 'a quoted `$`; write the index itself')
  return `${name}[${indexOf(expand(subscript, variables), variables)}]${word.slice(whole.length)}`
}

/** Computes the values of expressions that a command assigns to variables with the attribute `-i`. */
export function attributedAssignments(command: SimpleCommand, interpreter: Interpreter): SimpleCommand {
  const { integerVars, lowercaseVars, uppercaseVars } = interpreter.ctx.state
  if (
    !command.assignments.some(({ name }) =>
      [integerVars, lowercaseVars, uppercaseVars].some((one) => one?.has(baseOf(name))),
    )
  )
    return command
  const assignments = command.assignments.map((one) => {
    const { name, append, array, value } = one
    const isNumber = integerVars?.has(baseOf(name)) === true
    const isElement = name.includes('[')
    const isCased = lowercaseVars?.has(baseOf(name)) === true || uppercaseVars?.has(baseOf(name)) === true
    if ((isNumber && (array !== null || (append && isElement))) || (isCased && (array !== null || isElement)))
      sessionOf(interpreter).refuse(`${name}=`, 'a list declared with -i, -l or -u; change its values instead')
    if (!isNumber) return one
    return {
      ...one,
      append: false,
      value: numberWord((value ?? undefined) as Word | undefined, append ? name : undefined),
    }
  })
  return { ...command, assignments } as SimpleCommand
}

const baseOf = (name: string) => name.replace(/\[.*/s, '')
