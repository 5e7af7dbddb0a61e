import type { Reach } from '../state/shell.ts'

/** A fault of an expression, in bash's wording. */
export class ArithmeticFault extends Error {
  /** Default: depends on the position of the expression. */
  readonly reach: Reach | undefined

  constructor(message: string, reach?: Reach) {
    super(message)
    this.reach = reach
  }
}

/** Left-associative binary operators, the weakest binding first. */
export const levels: readonly (readonly string[])[] = [
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<=', '>=', '<', '>'],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
]
export function apply(operator: string, left: bigint, right: bigint): bigint {
  return BigInt.asIntN(64, BigInt(results[operator]?.(left, right) ?? 0n))
}

const results: Readonly<Record<string, (left: bigint, right: bigint) => bigint | boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '>': (left, right) => left > right,
  '<=': (left, right) => left <= right,
  '>=': (left, right) => left >= right,
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '**': power,
  '<<': (left, right) => left << BigInt.asUintN(6, right),
  '>>': (left, right) => left >> BigInt.asUintN(6, right),
  '&': (left, right) => left & right,
  '|': (left, right) => left | right,
  '^': (left, right) => left ^ right,
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left % 2n === 1n) result = BigInt.asIntN(64, result * square)
    square = BigInt.asIntN(64, square * square)
  }
  return result
}
