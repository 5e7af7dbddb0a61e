import { parse } from '#just-bash'

// just-bash counts in doubles, and shifts and joins bits in 32 bits; bash counts in 64 bits. Operations whose result may be
// beyond that are guarded: a result that is not exact ends the script.

interface Arithmetic {
  readonly type: string
  readonly operator?: string
  readonly value?: unknown
  readonly left?: Arithmetic
  readonly right?: Arithmetic
}

interface Expression {
  expression: Arithmetic
  originalText?: string
}

const exact = Number.MAX_SAFE_INTEGER
const refusal = "__refused arithmetic 'numbers beyond 2^53, or bits beyond 2^31; use awk'"

/** Guards an expression. An expression that just-bash's lexer has taken apart (`((i<=3))`) is read again. */
export function guardArithmetic(node: Expression): void {
  const text = node.originalText ?? ''
  if (JSON.stringify(node.expression).includes('"ArithSyntaxError"') && /[<>] =/.test(text))
    node.expression = expressionOf(text.replace(/([<>]) =/g, '$1='))
  const before = JSON.stringify(node.expression)
  node.expression = guarded(node.expression, { count: 0 })
  if (JSON.stringify(node.expression) === before || !isReadAgain.test(text)) return
  if (/"operator":"(?:<<|>>|[&|^~])"/.test(before)) delete node.originalText
  else node.originalText = `(__number = (${text})) < ${exact} && __number > -${exact} ? __number : $(${refusal})`
}

/** just-bash puts the values of `$x` into such a text, as bash does, and reads it again. */
const isReadAgain = /\$[a-zA-Z_]\w*(?![{[(])/

function expressionOf(text: string): Arithmetic {
  const command = parse(`: $((${text}))`).statements[0]?.pipelines[0]?.commands[0] as
    | { readonly args: readonly { readonly parts: readonly { readonly expression: Expression }[] }[] }
    | undefined
  const found = command?.args[0]?.parts[0]?.expression.expression
  if (found === undefined) throw new Error('no expression')
  return found
}

interface Names {
  count: number
}

function guarded<Part>(node: Part, names: Names): Part {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map((one: unknown) => guarded(one, names)) as Part
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, guarded(value as unknown, names)]))
  return guardedOne(inner as unknown as Arithmetic, names) as Part
}

function guardedOne(node: Arithmetic, names: Names): Arithmetic {
  const { type, operator = '' } = node
  if (type === 'ArithNumber') return Number(node.value) >= exact ? refused : node
  if (type === 'ArithUnary' && operator === '~') return withSmall([operandOf(node)], names, () => node)
  if (type === 'ArithAssignment') {
    // Division by zero is noticed in a division only.
    if (operator === '/=' || operator === '%=') return dividing(node)
    if (operator === '*=' || operator === '**=') return limited(node, names)
    return /^(?:<<|>>|[&|^])=$/.test(operator) ? refused : node
  }
  if (type !== 'ArithBinary' || node.left === undefined || node.right === undefined) return node
  const { left, right } = node
  if (operator === '<<')
    return limited(binary('*', left, binary('**', { type: 'ArithNumber', value: 2 }, right)), names)
  if (operator === '>>' || operator === '&' || operator === '|' || operator === '^')
    return withSmall([left, right], names, ([first, second]) => ({ ...node, left: first, right: second }) as Arithmetic)
  const grows = operator === '*' || operator === '**' || ((operator === '+' || operator === '-') && !short(left, right))
  return grows ? limited(node, names) : node
}

function dividing(node: Arithmetic): Arithmetic {
  const { variable: name, subscript, stringKey, operator = '', value } = node as Arithmetic & Assignment
  if ((subscript ?? stringKey) !== undefined) return refused
  return { ...node, operator: '=', value: binary(operator[0] ?? '/', variable(name), value as Arithmetic) }
}

interface Assignment {
  readonly variable: string
  readonly subscript?: unknown
  readonly stringKey?: unknown
}

/** One more or one less does not leave the numbers that are exact, for all that counts. */
function short(left: Arithmetic, right: Arithmetic): boolean {
  return left.type === 'ArithNumber' || right.type === 'ArithNumber'
}

function operandOf(node: Arithmetic): Arithmetic {
  return (node as unknown as { readonly operand: Arithmetic }).operand
}

const refused: Arithmetic = { type: 'ArithCommandSubst', command: refusal } as Arithmetic

function binary(operator: string, left: Arithmetic, right: Arithmetic): Arithmetic {
  return { type: 'ArithBinary', operator, left, right }
}

const number = (value: number): Arithmetic => ({ type: 'ArithNumber', value })
const variable = (name: string): Arithmetic => ({ type: 'ArithVariable', name, hasDollarPrefix: false }) as Arithmetic
const assigned = (name: string, value: Arithmetic): Arithmetic =>
  ({ type: 'ArithGroup', expression: { type: 'ArithAssignment', operator: '=', variable: name, value } }) as Arithmetic

/** `value` where the condition holds; otherwise the script is refused. */
function provided(condition: Arithmetic, value: Arithmetic): Arithmetic {
  const choice = { type: 'ArithTernary', condition, consequent: value, alternate: refused }
  return { type: 'ArithGroup', expression: choice } as unknown as Arithmetic
}

function within(name: string, value: Arithmetic, limit: number): Arithmetic {
  const above = binary('<=', assigned(name, value), number(limit))
  return binary(
    '&&',
    above,
    binary('>=', variable(name), {
      type: 'ArithUnary',
      operator: '-',
      operand: number(limit),
      prefix: true,
    } as Arithmetic),
  )
}

function limited(value: Arithmetic, names: Names): Arithmetic {
  const name = nextName(names)
  return provided(within(name, value, exact - 1), variable(name))
}

const smallest = 2 ** 31 - 1

function withSmall(
  operands: readonly Arithmetic[],
  names: Names,
  use: (variables: readonly Arithmetic[]) => Arithmetic,
): Arithmetic {
  const own = operands.map((operand) => ({ name: nextName(names), operand }))
  const conditions = own.map(({ name, operand }) => within(name, operand, smallest))
  const [first = number(1), ...rest] = conditions
  return provided(
    rest.reduce((all, one) => binary('&&', all, one), first),
    use(own.map(({ name }) => variable(name))),
  )
}

function nextName(names: Names): string {
  names.count++
  return `__number${names.count}`
}
