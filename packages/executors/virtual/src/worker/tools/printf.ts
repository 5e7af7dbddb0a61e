import { bytesOf, Output } from '@ws/shell-tools'
import { decodeText, hasForeignBytes } from '@ws/shell-tools/files'
import type { ToolResult } from '@ws/shell-tools'

import type { ScriptTool } from '../call.ts'
import { escaped, quoted } from './printf-text.ts'

interface Context {
  readonly origCommand?: (given: readonly string[]) => Promise<ToolResult>
  readonly assignShellVariable?: (name: string, value: string, subscript?: string) => void | Promise<void>
}

const conversion = /%(?:%|([-+ #0]*)(\*|\d+)?(?:\.(\*|-?\d*))?[hlLjtz]*([^]))|%/y
const mostColumns = 1_000_000

export const printf: ScriptTool = async (call) => {
  const context = call.context as unknown as Context
  const words = [...call.given]
  const variable = words[0] === '-v' ? words.splice(0, 2)[1] : undefined
  if (words[0] === '--') words.shift()
  const [format, ...values] = words
  const output = new Output()
  if (format === undefined) {
    output.fail('bash: printf: usage: printf [-v var] format [arguments]', 2)
    return output.result()
  }
  if (/%[^a-zA-Z%]*\(/.test(format) && context.origCommand !== undefined) return context.origCommand(call.given)
  const printer = new Printer(format, values, {
    fail: (text) => output.fail(`bash: printf: ${text}`),
    refuse: (reason) => call.host.refuse('printf', reason),
  })
  const bytes = printer.print()
  if (variable === undefined) output.write(bytes)
  else {
    const [, name = variable, key] = /^([A-Za-z_]\w*)\[(.+)\]$/s.exec(variable) ?? []
    const text = decodeText(Buffer.from(bytes.replace(/\0[^]*/, ''), 'latin1'))
    if (hasForeignBytes(text)) call.host.refuse('printf -v', 'a value that is not UTF-8')
    if (!/^[A-Za-z_]\w*$/.test(name)) output.fail(`bash: printf: \`${variable}': not a valid identifier`, 2)
    else await context.assignShellVariable?.(name, text, key)
  }
  return output.result()
}

interface Host {
  fail(text: string): void
  refuse(reason: string): never
}

class Printer {
  readonly #format: string
  readonly #values: readonly string[]
  readonly #host: Host
  #next = 0
  #ended = false

  constructor(format: string, values: readonly string[], host: Host) {
    this.#format = format
    this.#values = values
    this.#host = host
  }

  /** Returns one character for each byte. The format repeats until no value remains. */
  print(): string {
    let bytes = ''
    let before: number
    do {
      before = this.#next
      bytes += this.#once()
    } while (!this.#ended && this.#next > before && this.#next < this.#values.length)
    return bytes
  }

  #once(): string {
    let bytes = ''
    for (let at = 0; at < this.#format.length && !this.#ended; ) {
      if (this.#format[at] === '\\') {
        const { end, text } = escaped(this.#format, at, false)
        bytes += text
        at = end
      } else if (this.#format[at] === '%') {
        conversion.lastIndex = at
        const [whole = '%', flags = '', width, precision, kind] = conversion.exec(this.#format) ?? []
        at += whole.length
        bytes += whole === '%%' ? '%' : this.#converted(whole, flags, width, precision, kind)
      } else {
        const end = this.#format.slice(at).search(/[\\%]/)
        bytes += bytesOf(end === -1 ? this.#format.slice(at) : this.#format.slice(at, at + end))
        at = end === -1 ? this.#format.length : at + end
      }
    }
    return bytes
  }

  #take(): string | undefined {
    return this.#next < this.#values.length ? this.#values[this.#next++] : undefined
  }

  #converted(
    whole: string,
    flags: string,
    width: string | undefined,
    precision: string | undefined,
    kind: string | undefined,
  ): string {
    if (kind === undefined || !/[sbqdiouxXcfF]/.test(kind)) {
      if (kind !== undefined && /[eEgGaAQn]/.test(kind)) this.#host.refuse(`\`${whole}\`; use %f or %d`)
      this.#host.fail(kind === undefined ? "`%': missing format character" : `\`${kind}': invalid format character`)
      this.#ended = true
      return ''
    }
    let columns = width === '*' ? Number(this.#integer(this.#take())) : Number(width ?? 0)
    const left = flags.includes('-') || columns < 0
    columns = Math.abs(columns)
    let digits =
      precision === undefined
        ? undefined
        : precision === '*'
          ? Number(this.#integer(this.#take()))
          : Number(precision === '' ? 0 : precision)
    if (digits !== undefined && digits < 0) digits = undefined
    if (columns > mostColumns || (digits ?? 0) > mostColumns) this.#host.refuse('a width beyond a limit of 1,000,000')
    const text = this.#textOf(kind, flags, digits)
    if (text.length >= columns) return text
    if ((columns > 0 || digits !== undefined) && /[^\0-\x7f]/.test(text) && /[sbqc]/.test(kind))
      this.#host.refuse('a width with text that is not ASCII')
    if (left) return text.padEnd(columns)
    if (!flags.includes('0') || !/[diouxXfF]/.test(kind) || (digits !== undefined && !/[fF]/.test(kind)))
      return text.padStart(columns)
    const [, sign = '', rest = ''] = /^([-+ ]?(?:0[xX])?)(.*)$/s.exec(text) ?? []
    return sign + rest.padStart(columns - sign.length, '0')
  }

  #textOf(kind: string, flags: string, digits: number | undefined): string {
    const value = this.#take()
    if (kind === 'c') {
      if (/^[^\0-\x7f]/.test(value ?? '')) this.#host.refuse('%c of a character that is not ASCII')
      return value?.[0] ?? '\0'
    }
    if (kind === 's' || kind === 'b' || kind === 'q') {
      const text =
        kind === 's' ? bytesOf(value ?? '') : kind === 'q' ? bytesOf(quoted(value ?? '')) : this.#unescaped(value ?? '')
      if (digits !== undefined && /[^\0-\x7f]/.test(text)) this.#host.refuse('a precision with text that is not ASCII')
      return text.slice(0, digits)
    }
    const sign = (text: string) =>
      text.startsWith('-') || !/[difF]/.test(kind)
        ? text
        : flags.includes('+')
          ? `+${text}`
          : flags.includes(' ')
            ? ` ${text}`
            : text
    if (kind === 'f' || kind === 'F')
      return sign(this.#fixed(value, digits ?? 6) + (digits === 0 && flags.includes('#') ? '.' : ''))
    const number = this.#integer(value)
    const unsigned = /[di]/.test(kind) ? (number < 0n ? -number : number) : BigInt.asUintN(64, number)
    let text = unsigned.toString(kind === 'o' ? 8 : /[xX]/.test(kind) ? 16 : 10)
    text = digits === 0 && number === 0n ? '' : text.padStart(digits ?? 1, '0')
    if (flags.includes('#') && kind === 'o' && !text.startsWith('0')) text = `0${text}`
    if (flags.includes('#') && /[xX]/.test(kind) && number !== 0n) text = `0x${text}`
    if (kind === 'X') text = text.toUpperCase()
    return sign(/[di]/.test(kind) && number < 0n ? `-${text}` : text)
  }

  #integer(given: string | undefined): bigint {
    if (given === undefined) return 0n
    if (/^["']/.test(given)) return BigInt(given.codePointAt(1) ?? 0)
    const text = given.replace(/^\s+/, '')
    const [digits = '', sign = ''] = /^([-+]?)(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)/.exec(text) ?? []
    if (digits !== text)
      this.#host.fail(
        `${given}: invalid ${/^[-+]?0\d/.test(text) ? 'octal number' : /^[-+]?0[xX]/.test(text) ? 'hex number' : 'number'}`,
      )
    const plain = digits.slice(sign.length)
    const size = BigInt(/^0[0-7]/.test(plain) ? `0o${plain.slice(1)}` : plain === '' ? '0' : plain)
    if (size > 2n ** 63n - 1n) this.#host.refuse('a number beyond 64 bits')
    return sign === '-' ? -size : size
  }

  #fixed(given: string | undefined, digits: number): string {
    if (given === undefined || given === '')
      return (0).toFixed(digits > 100 ? this.#host.refuse('so many digits') : digits)
    const code = /^["']/.test(given) ? String(given.codePointAt(1) ?? 0) : given.trimStart()
    const [text = '', sign = '', whole = '', fraction = ''] = /^([-+]?)(\d*)(?:\.(\d*))?/.exec(code) ?? []
    if (/^[-+]?(?:0[xX]|\d*\.?\d*[eE][-+]?\d|inf|nan)/i.test(code)) this.#host.refuse('%f of a number in this form')
    if (whole + fraction === '') {
      this.#host.fail(`${given}: invalid number`)
      return this.#fixed('', digits)
    }
    if (text !== code) this.#host.fail(`${given}: invalid number`)
    if (whole.length + digits > 18 || /^50*$/.test(fraction.slice(digits)))
      this.#host.refuse('a number half-way between two that can be shown, or so many digits')
    const kept =
      BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0')) + BigInt(Number(fraction[digits] ?? 0) >= 5)
    const shown = kept.toString().padStart(digits + 1, '0')
    const point = shown.length - digits
    return `${sign === '-' ? '-' : ''}${shown.slice(0, point)}${digits > 0 ? `.${shown.slice(point)}` : ''}`
  }

  /** Decodes a value of `%b`. `\c` ends the output. */
  #unescaped(value: string): string {
    let bytes = ''
    for (let at = 0; at < value.length; ) {
      if (value[at] !== '\\') {
        const end = value.indexOf('\\', at)
        bytes += bytesOf(end === -1 ? value.slice(at) : value.slice(at, end))
        at = end === -1 ? value.length : end
      } else if (value[at + 1] === 'c') {
        this.#ended = true
        return bytes
      } else {
        const { end, text } = escaped(value, at, true)
        bytes += text
        at = end
      }
    }
    return bytes
  }
}
