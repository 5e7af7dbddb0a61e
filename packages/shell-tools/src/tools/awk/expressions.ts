import { Cursor } from './cursor.ts'
import { SyntaxProblem } from './lexer.ts'
import type { Expression } from './syntax.ts'

const comparisons = new Set(['<', '<=', '==', '!=', '>', '>='])
const assignments = new Set(['=', '+=', '-=', '*=', '/=', '%=', '^='])

/** Has one method for each level of precedence. */
export class ExpressionParser extends Cursor {
  /** In `print`, `>` is a redirection. */
  #noGreater = false
  #noIn = false

  withoutGreater<Result>(read: () => Result): Result {
    return this.#with({ noGreater: true, noIn: this.#noIn }, read)
  }

  #with<Result>({ noGreater, noIn }: { noGreater: boolean; noIn: boolean }, read: () => Result): Result {
    const before = [this.#noGreater, this.#noIn] as const
    this.#noGreater = noGreater
    this.#noIn = noIn
    try {
      return read()
    } finally {
      ;[this.#noGreater, this.#noIn] = before
    }
  }

  list(close: string): Expression[] {
    return this.#with({ noGreater: false, noIn: false }, () => {
      const values: Expression[] = []
      this.skipNewlines()
      while (!this.takes('operator', close)) {
        values.push(this.expression())
        this.skipNewlines()
        if (this.takes('operator', ',')) this.skipNewlines()
        else if (!this.is('operator', close))
          throw new SyntaxProblem(`\`${close}\` was expected at \`${this.token.text}\``)
      }
      return values
    })
  }

  expression(): Expression {
    const left = this.#choice()
    const { kind, text } = this.token
    if (kind !== 'operator' || !assignments.has(text)) return left
    if (!['variable', 'element', 'field'].includes(left.type))
      throw new SyntaxProblem('an assignment to a target that is not a variable')
    this.advance()
    this.skipNewlines()
    return { type: 'assign', operator: text.slice(0, -1), target: left, value: this.expression() }
  }

  #choice(): Expression {
    const test = this.#or()
    if (!this.takes('operator', '?')) return test
    this.skipNewlines()
    const yes = this.expression()
    this.skipNewlines()
    this.expect(':')
    this.skipNewlines()
    return { type: 'choice', test, yes, no: this.expression() }
  }

  #or(): Expression {
    let left = this.#and()
    while (this.takes('operator', '||')) {
      this.skipNewlines()
      left = { type: 'binary', operator: '||', left, right: this.#and() }
    }
    return left
  }

  #and(): Expression {
    let left = this.#in()
    while (this.takes('operator', '&&')) {
      this.skipNewlines()
      left = { type: 'binary', operator: '&&', left, right: this.#in() }
    }
    return left
  }

  #in(): Expression {
    let left = this.#match()
    while (!this.#noIn && this.takes('keyword', 'in')) {
      const index = left.type === 'group' ? left.parts : [left]
      left = { type: 'in', index, name: this.advance().text }
    }
    return left
  }

  #match(): Expression {
    let left = this.#comparison()
    for (;;) {
      const negated = this.is('operator', '!~')
      if (!negated && !this.is('operator', '~')) return left
      this.advance()
      left = { type: 'match', negated, left, right: this.#comparison() }
    }
  }

  #comparison(): Expression {
    const left = this.concatenation()
    const { kind, text } = this.token
    if (kind !== 'operator' || !comparisons.has(text) || (text === '>' && this.#noGreater)) return left
    this.advance()
    return { type: 'binary', operator: text, left, right: this.concatenation() }
  }

  concatenation(): Expression {
    let left = this.#additive()
    while (this.#startsOperand()) left = { type: 'binary', operator: ' ', left, right: this.#additive() }
    return left
  }

  #startsOperand(): boolean {
    const { kind, text } = this.token
    if (['number', 'string', 'regex', 'name', 'call', 'builtin'].includes(kind)) return true
    return kind === 'operator' && ['$', '(', '++', '--'].includes(text)
  }

  #additive(): Expression {
    let left = this.#multiplicative()
    while (this.is('operator', '+') || this.is('operator', '-'))
      left = { type: 'binary', operator: this.advance().text, left, right: this.#multiplicative() }
    return left
  }

  #multiplicative(): Expression {
    let left = this.#unary()
    while (this.is('operator', '*') || this.is('operator', '/') || this.is('operator', '%'))
      left = { type: 'binary', operator: this.advance().text, left, right: this.#unary() }
    return left
  }

  #unary(): Expression {
    const { kind, text } = this.token
    if (kind === 'operator' && (text === '!' || text === '-' || text === '+')) {
      this.advance()
      return { type: 'unary', operator: text, part: this.#unary() }
    }
    return this.#power()
  }

  #power(): Expression {
    const left = this.#step()
    if (!this.takes('operator', '^')) return left
    const { kind, text } = this.token
    const right = kind === 'operator' && (text === '-' || text === '+' || text === '!') ? this.#unary() : this.#power()
    return { type: 'binary', operator: '^', left, right }
  }

  #step(): Expression {
    for (const [text, by] of [['++', 1] as const, ['--', -1] as const])
      if (this.takes('operator', text)) return { type: 'step', by, before: true, target: this.#primary() }
    const target = this.#primary()
    if (!['variable', 'element', 'field'].includes(target.type)) return target
    for (const [text, by] of [['++', 1] as const, ['--', -1] as const])
      if (this.takes('operator', text)) return { type: 'step', by, before: false, target }
    return target
  }

  #primary(): Expression {
    const { kind, text } = this.advance()
    switch (kind) {
      case 'number':
        return { type: 'number', value: Number(text) }
      case 'string':
        return { type: 'string', value: text }
      case 'regex':
        return { type: 'regex', source: text }
      case 'call':
        this.expect('(')
        return { type: 'call', name: text, values: this.list(')') }
      case 'builtin':
        if (this.takes('operator', '(')) return { type: 'builtin', name: text, values: counted(text, this.list(')')) }
        if (text !== 'length') throw new SyntaxProblem(`\`${text}\` needs parentheses`)
        return { type: 'builtin', name: text, values: [] }
      case 'name':
        return this.takes('operator', '[')
          ? { type: 'element', name: text, index: this.list(']') }
          : { type: 'variable', name: text }
      default:
    }
    if (kind === 'operator' && text === '$') {
      for (const [sign, by] of [['++', 1] as const, ['--', -1] as const])
        if (this.takes('operator', sign))
          return { type: 'field', index: { type: 'step', by, before: true, target: this.#primary() } }
      if (this.takes('operator', '-'))
        return { type: 'field', index: { type: 'unary', operator: '-', part: this.#primary() } }
      return { type: 'field', index: this.#primary() }
    }
    if (kind === 'operator' && text === '(') {
      const parts = this.list(')')
      const [only] = parts
      if (only === undefined) throw new SyntaxProblem('empty parentheses')
      return parts.length === 1 ? { type: 'group', parts: [only] } : { type: 'group', parts }
    }
    if (kind === 'keyword' && text === 'getline') {
      const target =
        ['name', 'operator'].includes(this.token.kind) && (this.token.kind === 'name' || this.is('operator', '$'))
          ? this.#primary()
          : undefined
      if (this.is('operator', '<')) throw new SyntaxProblem('getline from a file')
      return { type: 'getline', target }
    }
    throw new SyntaxProblem(text === '' ? 'the program ends early' : `\`${text}\` was not expected`)
  }
}

/** Least and most arguments of functions. Functions that are not listed take exactly one. */
const counts: Readonly<Record<string, readonly [number, number]>> = {
  length: [0, 1],
  substr: [2, 3],
  index: [2, 2],
  split: [2, 3],
  sub: [2, 3],
  gsub: [2, 3],
  match: [2, 2],
  sprintf: [1, Infinity],
  atan2: [2, 2],
  rand: [0, 0],
  srand: [0, 1],
  fflush: [0, 1],
}

function counted(name: string, values: Expression[]): Expression[] {
  const [least, most] = counts[name] ?? [1, 1]
  if (values.length >= least && values.length <= most) return values
  throw new SyntaxProblem(
    `${name} with ${values.length} arguments${name === 'match' ? '; the array is of gawk alone' : ''}`,
  )
}
