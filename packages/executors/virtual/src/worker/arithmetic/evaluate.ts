import type { Reach } from '../state/shell.ts'
import { apply, ArithmeticFault, levels } from './operators.ts'
import type { Variables } from './variables.ts'

const mostDepth = 200
const assignments: ReadonlySet<string> = new Set(['=', '*=', '/=', '%=', '+=', '-=', '<<=', '>>=', '&=', '^=', '|='])
const token =
  /\s*(?:(<<=|>>=|\*\*|[=!<>]=|[-+*/%&^|]=|&&|\|\||<<|>>|\+\+|--|[-+*/%&|^~!<>=?:(),])|(\d[\w#@]*)|([A-Za-z_]\w*)|([^\s]))/y

/** Evaluates an expression in 64 bits, as bash does. */
export function evaluate(text: string, variables: Variables, depth = 0): bigint {
  if (depth > mostDepth) throw new ArithmeticFault(`${text}: expression recursion level exceeded`)
  if (text.trim() === '') return 0n
  return new Reader(text, variables, depth).whole()
}

/** Runs `work`. `reach` is how much of the script its faults end, unless a fault has its own reach. */
export function reaching<Result>(reach: Reach, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof ArithmeticFault) throw new ArithmeticFault(error.message, error.reach ?? reach)
    throw error
  }
}

/** The value of a subscript. An invalid subscript ends the script in bash. */
export function indexOf(subscript: string, variables: Variables, depth = 0): bigint {
  return reaching('script', () => evaluate(subscript, variables, depth))
}

interface Target {
  readonly name: string
  readonly key: string | undefined
}

class Reader {
  readonly #text: string
  readonly #variables: Variables
  readonly #depth: number
  #at = 0
  #token = ''
  #begin = 0
  /** True in a part that is only parsed: its value is unused, and its assignments have no effect. */
  #idle = false

  constructor(text: string, variables: Variables, depth: number) {
    this.#text = text
    this.#variables = variables
    this.#depth = depth
    this.#advance()
  }

  whole(): bigint {
    const value = this.#comma()
    if (this.#token !== '') this.#fail('syntax error in expression')
    return value
  }

  #fail(words: string): never {
    throw new ArithmeticFault(`${this.#text}: ${words} (error token is "${this.#text.slice(this.#begin)}")`)
  }

  #advance(): void {
    token.lastIndex = this.#at
    const [found] = token.exec(this.#text) ?? []
    this.#begin = this.#at
    this.#token = found?.trim() ?? ''
    this.#at = found === undefined ? this.#text.length : token.lastIndex
    // `3--2` is a difference: `++` and `--` apply to names only.
    if (/^(?:\+\+|--)$/.test(this.#token) && !/^\s*[A-Za-z_]/.test(this.#text.slice(this.#at)) && !this.#afterName) {
      this.#token = this.#token.slice(1)
      this.#at--
    }
    this.#afterName = /^[A-Za-z_]/.test(this.#token)
  }
  #afterName = false

  #takes(text: string): boolean {
    if (this.#token !== text) return false
    this.#advance()
    return true
  }

  #comma(): bigint {
    let value = this.#assignment()
    while (this.#takes(',')) value = this.#assignment()
    return value
  }

  #assignment(): bigint {
    const [at, begin, current, after] = [this.#at, this.#begin, this.#token, this.#afterName]
    if (/^[A-Za-z_]/.test(current)) {
      const target = this.#target()
      const operator = this.#token
      if (assignments.has(operator)) {
        this.#advance()
        const before = operator === '=' ? 0n : this.#read(target)
        const value = this.#assignment()
        return this.#assign(target, operator === '=' ? value : this.#apply(operator.slice(0, -1), before, value))
      }
    }
    ;[this.#at, this.#begin, this.#token, this.#afterName] = [at, begin, current, after]
    return this.#condition()
  }

  #condition(): bigint {
    const condition = this.#or()
    if (!this.#takes('?')) return condition
    const first = this.#unless(condition === 0n, () => this.#comma())
    if (!this.#takes(':')) this.#fail("`:' expected for conditional expression")
    const second = this.#unless(condition !== 0n, () => this.#condition())
    if (assignments.has(this.#token)) this.#fail('attempted assignment to non-variable')
    return condition === 0n ? second : first
  }

  #unless(idle: boolean, read: () => bigint): bigint {
    const before = this.#idle
    this.#idle ||= idle
    const value = read()
    this.#idle = before
    return value
  }

  #or(): bigint {
    let value = this.#and()
    while (this.#takes('||')) {
      const isTrue = value !== 0n
      value = BigInt(this.#unless(isTrue, () => this.#and()) !== 0n || isTrue)
    }
    return value
  }

  #and(): bigint {
    let value = this.#binary(0)
    while (this.#takes('&&')) {
      const isTrue = value !== 0n
      value = BigInt(this.#unless(!isTrue, () => this.#binary(0)) !== 0n && isTrue)
    }
    return value
  }

  #binary(level: number): bigint {
    const operators = levels[level]
    if (operators === undefined) return this.#power()
    let value = this.#binary(level + 1)
    while (operators.includes(this.#token)) {
      const operator = this.#token
      this.#advance()
      value = this.#apply(operator, value, this.#binary(level + 1))
    }
    if (level === 0 && assignments.has(this.#token)) this.#fail('attempted assignment to non-variable')
    return value
  }

  #power(): bigint {
    const value = this.#unary()
    return this.#takes('**') ? this.#apply('**', value, this.#power()) : value
  }

  #unary(): bigint {
    const operator = this.#token
    if (operator === '++' || operator === '--') {
      this.#advance()
      const target = this.#target()
      return this.#assign(target, this.#read(target) + (operator === '++' ? 1n : -1n))
    }
    if (!/^[-+!~]$/.test(operator)) return this.#primary()
    this.#advance()
    const value = this.#unary()
    if (operator === '!') return BigInt(value === 0n)
    return operator === '+' ? value : BigInt.asIntN(64, operator === '-' ? -value : ~value)
  }

  #primary(): bigint {
    if (this.#takes('(')) {
      const value = this.#comma()
      if (!this.#takes(')')) this.#fail("missing `)'")
      return value
    }
    if (/^\d/.test(this.#token)) {
      const value = this.#number(this.#token)
      this.#advance()
      if (/^[\w@#]/.test(this.#token)) this.#fail('syntax error in expression')
      return value
    }
    if (!/^[A-Za-z_]/.test(this.#token)) this.#fail('syntax error: operand expected')
    const target = this.#target()
    const value = this.#read(target)
    const step = this.#token === '++' ? 1n : this.#token === '--' ? -1n : 0n
    if (step !== 0n) {
      this.#assign(target, value + step)
      this.#advance()
    }
    return value
  }

  #target(): Target {
    const name = this.#token
    if (!/^[A-Za-z_]/.test(name)) this.#fail('syntax error: operand expected')
    let key: string | undefined
    if (this.#text[this.#at] === '[') {
      const from = this.#at + 1
      let depth = 1
      for (this.#at = from; depth > 0; this.#at++) {
        const character = this.#text[this.#at]
        if (character === undefined) this.#fail('bad array subscript')
        if (character === '[') depth++
        else if (character === ']') depth--
      }
      key = this.#text.slice(from, this.#at - 1)
    }
    this.#afterName = true
    this.#advance()
    return { name, key }
  }

  #keyOf({ name, key }: Target): string | undefined {
    if (key === undefined) return undefined
    if (this.#variables.isMap(name)) return key.replace(/^(["'])(.*)\1$/s, '$2')
    return this.#variables.place(name, indexOf(key, this.#variables, this.#depth + 1))
  }

  #read(target: Target): bigint {
    if (this.#idle) return 0n
    return evaluate(this.#variables.get(target.name, this.#keyOf(target)), this.#variables, this.#depth + 1)
  }

  #assign(target: Target, value: bigint): bigint {
    const kept = BigInt.asIntN(64, value)
    if (!this.#idle) this.#variables.set(target.name, this.#keyOf(target), String(kept))
    return kept
  }

  #number(text: string): bigint {
    const [, base = '10', digits = ''] = /^(\d+)#([\w@]+)$/.exec(text) ?? []
    if (digits !== '') return this.#digits(digits, Number(base))
    if (/^0[xX]/.test(text)) return this.#digits(text.slice(2), 16)
    return text.length > 1 && text.startsWith('0') ? this.#digits(text.slice(1), 8) : this.#digits(text, 10)
  }

  #digits(text: string, base: number): bigint {
    if (base < 2 || base > 64) this.#fail('invalid arithmetic base')
    let value = 0n
    for (const digit of text) {
      const place = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_'.indexOf(
        base <= 36 ? digit.toLowerCase() : digit,
      )
      if (place === -1) this.#fail('syntax error: invalid arithmetic operator')
      if (place >= base) this.#fail('value too great for base')
      value = BigInt.asIntN(64, value * BigInt(base) + BigInt(place))
    }
    return value
  }

  #apply(operator: string, left: bigint, right: bigint): bigint {
    if (this.#idle) return 0n
    if ((operator === '/' || operator === '%') && right === 0n) this.#fail('division by 0')
    if (operator === '**' && right < 0n) this.#fail('exponent less than 0')
    return apply(operator, left, right)
  }
}
