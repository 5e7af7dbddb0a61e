import { SyntaxProblem, tokensOf } from './lexer.ts'
import { ExpressionParser } from './expressions.ts'
import type { Expression, Function, Program, Rule, Statement } from './syntax.ts'

/** @throws SyntaxProblem */
export function parseProgram(text: string): Program {
  return new Parser(tokensOf(text)).program()
}

class Parser extends ExpressionParser {
  program(): Program {
    const rules: Rule[] = []
    const functions = new Map<string, Function>()
    this.skipBreaks()
    while (this.token.kind !== 'end') {
      if (this.takes('keyword', 'function')) {
        const name = this.advance().text
        functions.set(name, this.#function())
      } else rules.push(this.#rule())
      this.skipBreaks()
    }
    return { rules, functions }
  }

  #function(): Function {
    this.expect('(')
    const parameters: string[] = []
    while (!this.takes('operator', ')')) {
      parameters.push(this.#name())
      this.takes('operator', ',')
      this.skipNewlines()
    }
    this.skipNewlines()
    return { parameters, body: this.#block() }
  }

  #name(): string {
    if (this.token.kind !== 'name') throw new SyntaxProblem(`a name was expected at \`${this.token.text}\``)
    return this.advance().text
  }

  #rule(): Rule {
    for (const when of ['BEGIN', 'END'] as const) if (this.takes('keyword', when)) return { when, body: this.#block() }
    if (this.is('operator', '{')) return { when: 'always', body: this.#block() }
    const from = this.expression()
    let to: Expression | undefined
    if (this.takes('operator', ',')) {
      this.skipNewlines()
      to = this.expression()
    }
    const body = this.is('operator', '{') ? this.#block() : undefined
    return to === undefined ? { when: 'pattern', from, body } : { when: 'range', from, to, body }
  }

  #block(): Statement {
    this.expect('{')
    const body: Statement[] = []
    this.skipBreaks()
    while (!this.takes('operator', '}')) {
      body.push(this.#statement())
      this.skipBreaks()
    }
    return { type: 'block', body }
  }

  #statement(): Statement {
    if (this.is('operator', '{')) return this.#block()
    if (this.takes('operator', ';')) return { type: 'block', body: [] }
    if (this.token.kind === 'keyword') {
      const { text } = this.token
      if (text === 'if') return this.#if()
      if (text === 'while') return this.#while()
      if (text === 'do') return this.#do()
      if (text === 'for') return this.#for()
    }
    const statement = this.#simple()
    this.#end()
    return statement
  }

  #end(): void {
    if (this.takes('operator', ';') || this.token.kind === 'newline' || this.token.kind === 'end') return
    if (!this.is('operator', '}')) throw new SyntaxProblem(`\`${this.token.text}\` was not expected`)
  }

  #body(): Statement {
    this.skipNewlines()
    return this.#statement()
  }

  #condition(): Expression {
    this.expect('(')
    const test = this.expression()
    this.expect(')')
    return test
  }

  #if(): Statement {
    this.advance()
    const test = this.#condition()
    const yes = this.#body()
    const place = this.mark()
    this.skipBreaks()
    if (this.takes('keyword', 'else')) return { type: 'if', test, yes, no: this.#body() }
    this.back(place)
    return { type: 'if', test, yes }
  }

  #while(): Statement {
    this.advance()
    const test = this.#condition()
    if (this.takes('operator', ';')) return { type: 'while', test, body: { type: 'block', body: [] }, first: false }
    return { type: 'while', test, body: this.#body(), first: false }
  }

  #do(): Statement {
    this.advance()
    const body = this.#body()
    this.skipBreaks()
    if (!this.takes('keyword', 'while')) throw new SyntaxProblem('`do` without `while`')
    const test = this.#condition()
    this.#end()
    return { type: 'while', test, body, first: true }
  }

  #for(): Statement {
    this.advance()
    this.expect('(')
    const place = this.mark()
    if (this.token.kind === 'name') {
      const variable = this.advance().text
      if (this.takes('keyword', 'in') && this.token.kind === 'name') {
        const name = this.advance().text
        if (this.takes('operator', ')')) return { type: 'each', variable, name, body: this.#body() }
      }
      this.back(place)
    }
    const start = this.is('operator', ';') ? undefined : this.#simple()
    this.expect(';')
    this.skipNewlines()
    const test = this.is('operator', ';') ? undefined : this.expression()
    this.expect(';')
    this.skipNewlines()
    const step = this.is('operator', ')') ? undefined : this.#simple()
    this.expect(')')
    const body: Statement = this.takes('operator', ';') ? { type: 'block', body: [] } : this.#body()
    return {
      type: 'for',
      ...(start === undefined ? {} : { start }),
      ...(test === undefined ? {} : { test }),
      ...(step === undefined ? {} : { step }),
      body,
    }
  }

  #simple(): Statement {
    const { kind, text } = this.token
    if (kind === 'keyword') {
      if (text === 'print' || text === 'printf') return this.#print(text)
      if (text === 'break' || text === 'continue' || text === 'next' || text === 'nextfile') {
        this.advance()
        return { type: 'leave', how: text }
      }
      if (text === 'exit' || text === 'return') {
        this.advance()
        return this.#ends() ? { type: text } : { type: text, value: this.expression() }
      }
      if (text === 'delete') {
        this.advance()
        const name = this.#name()
        return this.takes('operator', '[') ? { type: 'delete', name, index: this.list(']') } : { type: 'delete', name }
      }
    }
    return { type: 'expression', value: this.expression() }
  }

  #ends(): boolean {
    const { kind, text } = this.token
    return kind === 'newline' || kind === 'end' || (kind === 'operator' && [';', '}', '>', '>>', '|'].includes(text))
  }

  #print(type: 'print' | 'printf'): Statement {
    this.advance()
    let values: readonly Expression[] = []
    if (!this.#ends()) {
      values = this.withoutGreater(() => {
        const found = [this.expression()]
        while (this.takes('operator', ',')) {
          this.skipNewlines()
          found.push(this.expression())
        }
        return found
      })
      const [only] = values
      if (values.length === 1 && only?.type === 'group') values = only.parts
    }
    for (const kind of ['>', '>>', '|'] as const) {
      if (!this.takes('operator', kind)) continue
      const target = this.withoutGreater(() => this.concatenation())
      return { type, values, redirection: { kind, target } }
    }
    return { type, values }
  }
}
