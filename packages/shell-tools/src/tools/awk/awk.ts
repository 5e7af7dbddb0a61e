import type { Invocation, Tool } from '../../contract.ts'
import { pathOf, readOperand, wordsOf } from '../../operands.ts'
import { bytesOf, Output } from '../../output.ts'
import { Evaluator } from './evaluate.ts'
import { SyntaxProblem, unescapeText } from './lexer.ts'
import { type Assignment, Machine, type Source } from './machine.ts'
import { parseProgram } from './parser.ts'
import { Runner } from './run.ts'
import { Input, Refused } from './values.ts'

/** POSIX awk over bytes. Refuses programs that start other programs, or on which awk implementations disagree. */
export const awk: Tool = async (call) => {
  const output = new Output({ late: true })
  try {
    const options = await optionsOf(call)
    const program = parseProgram(bytesOf(options.program))
    const needsInput =
      program.rules.some(({ when }) => when !== 'BEGIN') || JSON.stringify(program.rules).includes('"getline"')
    const inputs = needsInput ? await inputsOf(call, options.operands, output) : []
    const machine = new Machine(inputs)
    options.operands.forEach((operand, index) => machine.array('ARGV').set(String(index + 1), bytesOf(operand)))
    machine.array('ARGV').set('0', 'awk')
    machine.assign('ARGC', options.operands.length + 1)
    for (const [name, value] of call.context.exportedEnv === undefined ? [] : Object.entries(call.context.exportedEnv))
      machine.array('ENVIRON').set(name, bytesOf(value))
    for (const { variable, value } of options.assignments) machine.assign(variable, new Input(value))
    const runner: Runner = new Runner(new Evaluator(machine, program, (name) => runner.callFunction(name)), call)
    runner.run()
    output.write(runner.out.join(''))
    output.exitCode = Math.max(output.exitCode, runner.exitCode)
    for (const [target, { bytes, append }] of runner.files) await store(call, target, bytes.join(''), append, output)
  } catch (error) {
    if (error instanceof Refused || error instanceof SyntaxProblem) call.host.refuse('awk', error.message)
    throw error
  }
  return output.result()
}

interface Options {
  readonly program: string
  readonly operands: readonly string[]
  readonly assignments: readonly { readonly variable: string; readonly value: string }[]
}

async function optionsOf(call: Invocation): Promise<Options> {
  const given = [...call.given]
  const assignments: { variable: string; value: string }[] = []
  const programs: string[] = []
  for (let word = given[0]; word !== undefined && /^-./.test(word); word = given[0]) {
    given.shift()
    if (word === '--') break
    const [, letter = '', glued = ''] = /^-([vFf])(.*)$/s.exec(word) ?? []
    if (letter === '') throw new Refused(`the option ${word}`)
    const value = glued === '' ? given.shift() : glued
    if (value === undefined) throw new Refused(`${word} without a value`)
    if (letter === 'f') programs.push(Buffer.from(await call.context.fs.readFileBuffer(pathOf(call, value))).toString())
    else if (letter === 'F' && value === 't') throw new Refused('-Ft, a tab or a letter')
    else if (letter === 'F') assignments.push({ variable: 'FS', value: unescapeText(bytesOf(value)) })
    else assignments.push(assignmentOf(value))
  }
  const program = programs.length > 0 ? programs.join('\n') : given.shift()
  if (program === undefined) throw new Refused('there is no program')
  return { program, operands: given, assignments }
}

function assignmentOf(text: string): Assignment {
  const [, variable, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? []
  if (variable === undefined) throw new Refused(`\`${text}\` is not an assignment`)
  return { variable, value: unescapeText(bytesOf(value)) }
}

async function inputsOf(
  call: Invocation,
  operands: readonly string[],
  output: Output,
): Promise<(Source | Assignment)[]> {
  const inputs: (Source | Assignment)[] = []
  for (const operand of operands) {
    if (/^[A-Za-z_]\w*=/.test(operand)) inputs.push(assignmentOf(operand))
    else if (operand !== '') {
      try {
        inputs.push({ name: operand === '-' ? '' : bytesOf(operand), bytes: await readOperand(call, operand) })
      } catch (error) {
        // mawk does not read later operands, but may already have processed earlier input. Such a command is refused.
        output.fail(`awk: cannot open ${operand} (${wordsOf(error)})`, 2)
        if (inputs.some((input) => 'bytes' in input)) call.host.refuse('awk', `\`${operand}\` cannot be read`)
        break
      }
    }
  }
  if (output.exitCode === 0 && !inputs.some((input) => 'bytes' in input))
    inputs.push({ name: '', bytes: await readOperand(call, '-') })
  return inputs
}

async function store(call: Invocation, target: string, bytes: string, append: boolean, output: Output): Promise<void> {
  const { fs } = call.context
  try {
    const path = pathOf(call, Buffer.from(target, 'latin1').toString())
    if (append) await fs.appendFile(path, bytes, 'binary')
    else await fs.writeFile(path, bytes, 'binary')
  } catch (error) {
    output.fail(`awk: cannot open ${target} (${wordsOf(error)})`, 2)
  }
}
