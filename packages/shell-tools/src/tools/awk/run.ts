import type { Invocation } from '../../contract.ts'
import type { Evaluator } from './evaluate.ts'
import { formatted } from './printf.ts'
import type { Rule, Statement } from './syntax.ts'
import { Input, isTrue, numberOf, Refused, stringOf, type Value } from './values.ts'

class Leave {
  readonly how: 'break' | 'continue' | 'next' | 'nextfile' | 'return' | 'exit'
  readonly value: Value

  constructor(how: Leave['how'], value?: Value) {
    this.how = how
    this.value = value
  }
}

export class Runner {
  readonly out: string[] = []
  readonly files = new Map<string, { readonly bytes: string[]; readonly append: boolean }>()
  exitCode = 0
  readonly #run: Evaluator
  readonly #call: Invocation
  readonly #inside = new Set<Rule>()
  #steps = 0

  constructor(run: Evaluator, call: Invocation) {
    this.#run = run
    this.#call = call
  }

  run(): void {
    const { machine, program } = this.#run
    const left = this.#rules((rule) => rule.when === 'BEGIN')
    const reads = program.rules.some(({ when }) => when !== 'BEGIN')
    if (left?.how !== 'exit' && reads) this.#records()
    if (left?.how !== 'exit' && !this.#exited) machine.finish()
    this.#rules((rule) => rule.when === 'END')
  }

  #exited = false

  #records(): void {
    const { machine } = this.#run
    for (let record = machine.next(); record !== undefined; record = machine.next()) {
      machine.setRecord(record)
      const left = this.#rules((rule) => this.#applies(rule))
      if (left?.how === 'nextfile') machine.skipFile()
      if (left?.how === 'exit') {
        this.#exited = true
        return
      }
    }
  }

  #applies(rule: Rule): boolean {
    if (rule.when === 'always') return true
    if (rule.when === 'pattern' && rule.from !== undefined) return isTrue(this.#run.value(rule.from))
    if (rule.when !== 'range' || rule.from === undefined || rule.to === undefined) return false
    if (!this.#inside.has(rule)) {
      if (!isTrue(this.#run.value(rule.from))) return false
      this.#inside.add(rule)
    }
    if (isTrue(this.#run.value(rule.to))) this.#inside.delete(rule)
    return true
  }

  #rules(applies: (rule: Rule) => boolean): Leave | undefined {
    for (const rule of this.#run.program.rules) {
      if (!applies(rule)) continue
      const left = this.#do(rule.body ?? { type: 'print', values: [] })
      if (left === undefined) continue
      if (left.how === 'exit') this.exitCode = left.value === undefined ? this.exitCode : numberOf(left.value) & 255
      return left
    }
    return undefined
  }

  callFunction(name: string): Value {
    const body = this.#run.program.functions.get(name)?.body
    const left = body === undefined ? undefined : this.#do(body)
    if (left !== undefined && left.how !== 'return') throw new Refused(`${left.how} in a function`)
    return left?.value
  }

  #do(statement: Statement): Leave | undefined {
    if (++this.#steps % 4096 === 0) this.#call.host.check()
    const run = this.#run
    switch (statement.type) {
      case 'expression':
        run.value(statement.value)
        return undefined
      case 'print':
      case 'printf':
        this.#print(statement)
        return undefined
      case 'block':
        for (const one of statement.body) {
          const left = this.#do(one)
          if (left !== undefined) return left
        }
        return undefined
      case 'if': {
        if (isTrue(run.value(statement.test))) return this.#do(statement.yes)
        return statement.no === undefined ? undefined : this.#do(statement.no)
      }
      case 'while':
        return this.#loop({
          test: () => isTrue(run.value(statement.test)),
          first: statement.first,
          body: statement.body,
        })
      case 'for': {
        if (statement.start !== undefined) this.#do(statement.start)
        const { test, step, body } = statement
        return this.#loop({
          test: () => test === undefined || isTrue(run.value(test)),
          first: false,
          body,
          step: () => (step === undefined ? undefined : this.#do(step)),
        })
      }
      case 'each': {
        const keys = [...run.array(statement.name).keys()]
        for (const key of keys) {
          run.assign({ type: 'variable', name: statement.variable }, new Input(key))
          const left = this.#do(statement.body)
          if (left?.how === 'break') break
          if (left !== undefined && left.how !== 'continue') return left
        }
        return undefined
      }
      case 'leave':
        return new Leave(statement.how)
      case 'exit':
      case 'return':
        return new Leave(statement.type, statement.value === undefined ? undefined : run.value(statement.value))
      case 'delete':
        if (statement.index === undefined) run.array(statement.name).clear()
        else run.array(statement.name).delete(run.key(statement.index))
        return undefined
    }
  }

  #loop(loop: { test: () => boolean; first: boolean; body: Statement; step?: () => unknown }): Leave | undefined {
    let rounds = 0
    for (let skip = loop.first; skip || loop.test(); skip = false) {
      const left = this.#do(loop.body)
      if (left?.how === 'break') return undefined
      if (left !== undefined && left.how !== 'continue') return left
      loop.step?.()
      if (++rounds > this.#call.context.limits.maxAwkIterations)
        throw new Refused('more iterations than `limits.maxLoopIterations`')
    }
    return undefined
  }

  #print(statement: Extract<Statement, { type: 'print' | 'printf' }>): void {
    const run = this.#run
    const { machine } = run
    const values = statement.values.map((value) => run.value(value))
    let text: string
    if (statement.type === 'printf') {
      const [format, ...rest] = values
      text = formatted(stringOf(format), rest)
    } else {
      const shown = (value: Value) => stringOf(value, stringOf(machine.variable('OFMT')))
      const line =
        values.length === 0 ? machine.record() : values.map(shown).join(machine.text(machine.variable('OFS')))
      text = line + machine.text(machine.variable('ORS'))
    }
    const { redirection } = statement
    if (redirection === undefined) {
      this.out.push(text)
      return
    }
    if (redirection.kind === '|') throw new Refused('print into a command')
    const target = run.text(redirection.target)
    if (target === '/dev/stdout' || target === '-') this.out.push(text)
    else if (target === '') throw new Refused('print into a file without a name')
    else {
      const known = this.files.get(target)
      const again = run.machine.closed.delete(target) && redirection.kind === '>'
      if (known === undefined || again) this.files.set(target, { bytes: [text], append: redirection.kind === '>>' })
      else known.bytes.push(text)
    }
  }
}
