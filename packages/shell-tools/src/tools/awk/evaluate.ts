import { builtin } from './builtins.ts'
import type { Cell, Machine } from './machine.ts'
import type { Expression, Program } from './syntax.ts'
import { compare, Input, isTrue, numberOf, Refused, type Value } from './values.ts'

export type Frame = Map<string, { value: Value; array: Cell | undefined }>

export class Evaluator {
  readonly machine: Machine
  readonly program: Program
  #frame: Frame | undefined
  #depth = 0
  readonly #run: (name: string) => Value

  /** @param run runs the body of a function */
  constructor(machine: Machine, program: Program, run: (name: string) => Value) {
    this.machine = machine
    this.program = program
    this.#run = run
  }

  array(name: string): Cell {
    const local = this.#frame?.get(name)
    if (local === undefined) return this.machine.array(name)
    local.array ??= new Map()
    return local.array
  }

  text(expression: Expression): string {
    return this.machine.text(this.value(expression))
  }

  number(expression: Expression): number {
    return numberOf(this.value(expression))
  }

  key(index: readonly Expression[]): string {
    return index.map((part) => this.text(part)).join(this.machine.text(this.machine.variable('SUBSEP')))
  }

  value(expression: Expression): Value {
    switch (expression.type) {
      case 'number':
      case 'string':
        return expression.value
      case 'regex':
        return Number(this.machine.regex(expression.source, false).test(this.machine.record()))
      case 'variable':
        return this.variable(expression.name)
      case 'element': {
        const cell = this.array(expression.name)
        const key = this.key(expression.index)
        if (!cell.has(key)) cell.set(key, undefined)
        return cell.get(key)
      }
      case 'field':
        return this.machine.field(Math.trunc(this.number(expression.index)))
      case 'group': {
        const [only] = expression.parts
        if (only === undefined || expression.parts.length > 1) throw new Refused('a list in parentheses')
        return this.value(only)
      }
      case 'assign': {
        const { operator, target } = expression
        if (operator === '') {
          const value = this.value(expression.value)
          this.assign(target, value)
          return value
        }
        const right = this.number(expression.value)
        const value = arithmetic(operator, this.number(target), right)
        this.assign(target, value)
        return value
      }
      case 'step': {
        const before = this.number(expression.target)
        this.assign(expression.target, before + expression.by)
        return expression.before ? before + expression.by : before
      }
      case 'unary': {
        if (expression.operator === '!') return Number(!isTrue(this.value(expression.part)))
        const value = this.number(expression.part)
        return expression.operator === '-' ? -value : value
      }
      case 'binary':
        return this.#binary(expression.operator, expression.left, expression.right)
      case 'match':
        return Number(this.regex(expression.right, false).test(this.text(expression.left)) !== expression.negated)
      case 'in':
        return Number(this.array(expression.name).has(this.key(expression.index)))
      case 'choice':
        return this.value(isTrue(this.value(expression.test)) ? expression.yes : expression.no)
      case 'getline':
        return this.#getline(expression.target)
      case 'builtin':
        return builtin(this, expression.name, expression.values)
      case 'call':
        return this.#call(expression.name, expression.values)
    }
  }

  #binary(operator: string, left: Expression, right: Expression): Value {
    if (operator === '&&') return Number(isTrue(this.value(left)) && isTrue(this.value(right)))
    if (operator === '||') return Number(isTrue(this.value(left)) || isTrue(this.value(right)))
    if (operator === ' ') {
      const text = this.text(left)
      return text + this.text(right)
    }
    const one = this.value(left)
    const other = this.value(right)
    const tests: Readonly<Record<string, (order: number) => boolean>> = {
      '<': (order) => order < 0,
      '<=': (order) => order <= 0,
      '==': (order) => order === 0,
      '!=': (order) => order !== 0,
      '>': (order) => order > 0,
      '>=': (order) => order >= 0,
    }
    const test = tests[operator]
    if (test !== undefined) return Number(test(compare(one, other)))
    return arithmetic(operator, numberOf(one), numberOf(other))
  }

  /** The regular expression of a constant or of a text. */
  regex(expression: Expression, longest: boolean, flags = ''): RegExp {
    const source = expression.type === 'regex' ? expression.source : this.text(expression)
    return this.machine.regex(source, longest, flags)
  }

  variable(name: string): Value {
    const local = this.#frame?.get(name)
    return local === undefined ? this.machine.variable(name) : local.value
  }

  assign(target: Expression, value: Value): void {
    if (target.type === 'variable') {
      const local = this.#frame?.get(target.name)
      if (local === undefined) this.machine.assign(target.name, value)
      else local.value = value
    } else if (target.type === 'element') this.array(target.name).set(this.key(target.index), value)
    else if (target.type === 'field') this.machine.setField(this.number(target.index), value)
    else throw new Refused('an assignment to a target that is not a variable')
  }

  #getline(target: Expression | undefined): Value {
    const record = this.machine.next()
    if (record === undefined) return 0
    if (target === undefined) this.machine.setRecord(record)
    else this.assign(target, new Input(record))
    return 1
  }

  #call(name: string, values: readonly Expression[]): Value {
    const found = this.program.functions.get(name)
    if (found === undefined) throw new Refused(`the function ${name}`)
    if (++this.#depth > 1_000) throw new Refused('so deep a recursion')
    const frame: Frame = new Map()
    if (values.length > found.parameters.length) throw new Refused(`${name} with ${values.length} arguments`)
    found.parameters.forEach((parameter, index) => {
      const given = values[index]
      // A bare name that is known to be an array is shared with the function. All other arguments are passed by value.
      const shared = given?.type === 'variable' && this.#isArray(given.name) ? this.array(given.name) : undefined
      const value = given === undefined || shared !== undefined ? undefined : this.value(given)
      frame.set(parameter, { value, array: shared })
    })
    if (
      values.some(
        (given) =>
          given.type === 'variable' &&
          this.variable(given.name) === undefined &&
          !this.#isArray(given.name) &&
          this.#unset(given.name),
      )
    )
      throw new Refused('a variable without a value given to a function')
    const outer = this.#frame
    this.#frame = frame
    try {
      return this.#run(name)
    } finally {
      this.#frame = outer
      this.#depth--
    }
  }

  #isArray(name: string): boolean {
    const local = this.#frame?.get(name)
    return local === undefined ? this.machine.arrays.has(name) : local.array !== undefined
  }

  #unset(name: string): boolean {
    const local = this.#frame?.get(name)
    return local === undefined ? !this.machine.variables.has(name) && name !== 'NF' : true
  }
}

function arithmetic(operator: string, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      if (right === 0) throw new Refused('a division by zero')
      return left / right
    case '%':
      if (right === 0) throw new Refused('a division by zero')
      return left % right
    default:
      return left ** right
  }
}
