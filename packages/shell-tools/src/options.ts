export interface OptionTable {
  /** Short options without a value in one string: `lrn`. */
  readonly flags?: string | undefined
  /** Short options with a value: `kt`. */
  readonly valued?: string | undefined
  /** Long options. `=` marks an option with a value, `=?` with an optional value, `==` with two words. */
  readonly long?: readonly string[] | undefined
  /** `-5` counts as an option. */
  readonly numeric?: boolean | undefined
  /** Options end at the first operand. */
  readonly leading?: boolean | undefined
}

export interface Option {
  /** The option as given, without its value: `-k`, `--key`, `-5`. */
  readonly name: string
  readonly value?: string | undefined
}

export interface Arguments {
  readonly options: readonly Option[]
  readonly operands: readonly string[]
  /** The first unknown option. */
  readonly unknown?: string | undefined
}

/** Parses arguments as GNU's `getopt_long`, without abbreviations. */
export function parseArguments(table: OptionTable, all: readonly string[]): Arguments {
  const options: Option[] = []
  const operands: string[] = []
  const rest = [...all]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--') {
      operands.push(...rest)
      break
    }
    if (argument === '-' || !argument.startsWith('-')) {
      operands.push(argument)
      if (table.leading !== true) continue
      operands.push(...rest)
      break
    }
    const taken = argument.startsWith('--') ? takeLong(table, argument, rest) : takeShort(table, argument, rest)
    if (typeof taken === 'string') return { options, operands, unknown: taken }
    options.push(...taken)
  }
  return { options, operands }
}

function takeLong(table: OptionTable, argument: string, rest: string[]): Option[] | string {
  const [, name = argument, value] = /^(--[^=]*)(?:=(.*))?$/s.exec(argument) ?? []
  const known = table.long ?? []
  const bare = name.slice(2)
  if (known.includes(`${bare}=?`)) return [{ name, value }]
  if (known.includes(`${bare}==`)) {
    const words = value === undefined ? rest.splice(0, 2) : []
    return words.length === 2 ? [{ name, value: words.join(' ') }] : name
  }
  if (known.includes(`${bare}=`)) {
    const given = value ?? rest.shift()
    return given === undefined ? name : [{ name, value: given }]
  }
  return known.includes(bare) && value === undefined ? [{ name }] : name
}

function takeShort(table: OptionTable, argument: string, rest: string[]): Option[] | string {
  if (table.numeric === true && /^-\d+$/.test(argument)) return [{ name: argument, value: argument.slice(1) }]
  const options: Option[] = []
  for (let index = 1; index < argument.length; index++) {
    const letter = argument[index] ?? ''
    const name = `-${letter}`
    if (table.valued?.includes(letter) === true) {
      const glued = argument.slice(index + 1)
      const value = glued === '' ? rest.shift() : glued
      return value === undefined ? name : [...options, { name, value }]
    }
    if (table.flags?.includes(letter) !== true) return name
    options.push({ name })
  }
  return options
}
