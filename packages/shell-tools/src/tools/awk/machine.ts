import { extendedExpression } from '../regex.ts'
import { Input, numberOf, Refused, stringOf, type Value } from './values.ts'

export interface Source {
  readonly name: string
  readonly bytes: string
}

/** An operand `name=value`. Takes effect after the operands before it were read. */
export interface Assignment {
  readonly variable: string
  readonly value: string
}

export type Cell = Map<string, Value>

export class Machine {
  readonly variables = new Map<string, Value>()
  readonly arrays = new Map<string, Cell>()
  /** Names of closed output files: the next `>` empties such a file. */
  readonly closed = new Set<string>()
  readonly #inputs: (Source | Assignment)[]
  readonly #regexes = new Map<string, RegExp>()
  #current: { readonly bytes: string; at: number } | undefined
  #record = ''
  #fields: Value[] | undefined = []
  #stale = false

  constructor(inputs: readonly (Source | Assignment)[]) {
    this.#inputs = [...inputs]
    for (const [name, value] of Object.entries({
      FS: ' ',
      OFS: ' ',
      ORS: '\n',
      RS: '\n',
      SUBSEP: '\x1c',
      CONVFMT: '%.6g',
      OFMT: '%.6g',
      RSTART: 0,
      RLENGTH: -1,
      NR: 0,
      FNR: 0,
      FILENAME: '',
    }))
      this.variables.set(name, value)
  }

  text(value: Value): string {
    return stringOf(
      value,
      typeof value === 'number' && !Number.isInteger(value) ? stringOf(this.variables.get('CONVFMT')) : undefined,
    )
  }

  variable(name: string): Value {
    if (name === 'NF') return this.#all().length
    return this.variables.get(name)
  }

  assign(name: string, value: Value): void {
    if (name === 'NF') {
      const count = numberOf(value)
      if (!Number.isInteger(count) || count < 0 || count > 1_000_000) throw new Refused(`NF of ${count}`)
      const fields = this.#all()
      while (fields.length < count) fields.push(undefined)
      fields.length = count
      this.#stale = true
      return
    }
    if (name === 'RS' && this.#current !== undefined && this.text(value).length > 1)
      throw new Refused('RS of more than one character')
    this.variables.set(name, value)
  }

  array(name: string): Cell {
    let found = this.arrays.get(name)
    if (found === undefined) this.arrays.set(name, (found = new Map()))
    return found
  }

  field(index: number): Value {
    if (!Number.isFinite(index) || index < 0) throw new Refused(`the field $${index}`)
    if (index === 0) return new Input(this.record())
    return this.#all()[Math.trunc(index) - 1]
  }

  setField(index: number, value: Value): void {
    if (index === 0) {
      this.setRecord(this.text(value))
      return
    }
    if (!Number.isInteger(index) || index < 0 || index > 1_000_000) throw new Refused(`the field $${index}`)
    const fields = this.#all()
    while (fields.length < index) fields.push(undefined)
    fields[index - 1] = value
    this.#stale = true
  }

  record(): string {
    if (this.#stale) {
      const separator = this.text(this.variables.get('OFS'))
      this.#record = this.#all()
        .map((field) => this.text(field))
        .join(separator)
      this.#stale = false
    }
    return this.#record
  }

  setRecord(text: string): void {
    this.#record = text
    this.#fields = undefined
    this.#stale = false
  }

  #all(): Value[] {
    this.#fields ??= this.split(this.#record, this.text(this.variables.get('FS'))).map((text) => new Input(text))
    return this.#fields
  }

  /** Splits a text into fields, like a record. */
  split(text: string, separator: string): string[] {
    if (text === '') return []
    if (separator === ' ') return text.split(/[ \t\n]+/).filter((word) => word !== '')
    if (separator === '') return [...text]
    const lines = this.text(this.variables.get('RS')) === '' ? '\n' : undefined
    if (separator.length === 1 && separator !== '\\') {
      const parts = text.split(separator)
      return lines === undefined ? parts : parts.flatMap((part) => part.split(lines))
    }
    if (lines !== undefined) throw new Refused('RS="" with a regular expression for FS')
    const parts: string[] = []
    let place = 0
    for (const match of text.matchAll(this.regex(separator, true, 'g'))) {
      if (match[0] === '') throw new Refused('a field separator that matches nothing')
      parts.push(text.slice(place, match.index))
      place = match.index + match[0].length
    }
    return [...parts, text.slice(place)]
  }

  regex(source: string, longest: boolean, flags = ''): RegExp {
    const key = `${longest ? 'l' : ''}${flags}/${source}`
    const known = this.#regexes.get(key)
    if (known !== undefined) {
      known.lastIndex = 0
      return known
    }
    const found = extendedExpression(source, { longest })
    if (found === undefined) throw new Refused(`the regular expression /${source}/`)
    const made = new RegExp(found.source, flags)
    this.#regexes.set(key, made)
    return made
  }

  next(): string | undefined {
    for (;;) {
      if (this.#current === undefined) {
        const input = this.#inputs.shift()
        if (input === undefined) return undefined
        if ('variable' in input) {
          this.assign(input.variable, new Input(input.value))
          continue
        }
        this.#current = { bytes: input.bytes, at: 0 }
        this.variables.set('FILENAME', input.name)
        this.variables.set('FNR', 0)
      }
      const record = this.#readFrom(this.#current)
      if (record !== undefined) {
        for (const name of ['NR', 'FNR']) this.variables.set(name, numberOf(this.variables.get(name)) + 1)
        return record
      }
      this.#current = undefined
    }
  }

  skipFile(): void {
    this.#current = undefined
  }

  /** Runs the assignments that follow the last file, before END. */
  finish(): void {
    while (this.next() !== undefined) continue
  }

  #readFrom(source: { readonly bytes: string; at: number }): string | undefined {
    const { bytes } = source
    const separator = this.text(this.variables.get('RS'))
    if (separator.length > 1) throw new Refused('RS of more than one character')
    if (separator === '') {
      while (bytes[source.at] === '\n') source.at++
      if (source.at >= bytes.length) return undefined
      const end = bytes.indexOf('\n\n', source.at)
      const record = bytes.slice(source.at, end === -1 ? undefined : end)
      source.at = end === -1 ? bytes.length : end + 2
      return end === -1 ? record.replace(/\n$/, '') : record
    }
    if (source.at >= bytes.length) return undefined
    const end = bytes.indexOf(separator, source.at)
    const record = bytes.slice(source.at, end === -1 ? undefined : end)
    source.at = end === -1 ? bytes.length : end + 1
    return record
  }
}
