import { exponential, fixed, general } from './numbers.ts'
import { Input, numberOf, Refused, stringOf, type Value } from './values.ts'

export function formatted(format: string, values: readonly Value[]): string {
  let next = 0
  const take = (): Value => {
    if (next >= values.length) throw new Refused('printf with fewer values than conversions')
    return values[next++]
  }
  return format.replace(
    /%(?:%|([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([^]))/g,
    (whole, flags: string | undefined, width, precision, kind) => {
      if (whole === '%%') return '%'
      let shown = flags ?? ''
      let columns = width === '*' ? numberOf(take()) : Number(width ?? 0)
      if (columns < 0) {
        shown += '-'
        columns = -columns
      }
      const dotted = /\.(?:\*|\d*)[^]$/.test(whole)
      const digits = precision === '*' ? numberOf(take()) : dotted ? Number(precision ?? 0) : undefined
      const text = convert(kind as string, take(), shown, digits)
      if (text.length >= columns) return text
      if (shown.includes('-')) return text.padEnd(columns)
      const zeros =
        shown.includes('0') &&
        !'sc'.includes(kind as string) &&
        !('dioxXu'.includes(kind as string) && digits !== undefined)
      if (!zeros) return text.padStart(columns)
      const [, sign = '', rest = ''] = /^([+-]?(?:0[xX])?)(.*)$/s.exec(text) ?? []
      return sign + rest.padStart(columns - sign.length, '0')
    },
  )
}

function convert(kind: string, value: Value, flags: string, digits: number | undefined): string {
  switch (kind) {
    case 's':
      return digits === undefined ? stringOf(value) : stringOf(value).slice(0, digits)
    case 'c': {
      if (typeof value === 'number' || value === undefined) {
        const code = Math.trunc(numberOf(value))
        if (code < 1 || code > 127) throw new Refused('%c of a number outside 1 to 127')
        return String.fromCharCode(code)
      }
      if (value instanceof Input && /^[\d.+-]/.test(value.text)) throw new Refused('%c of a number from the input')
      return stringOf(value).slice(0, 1)
    }
    case 'd':
    case 'i':
      return signed(whole(value, digits), flags)
    case 'o':
    case 'x':
    case 'X':
    case 'u': {
      const integer = Math.trunc(numberOf(value))
      if (integer < 0 || !Number.isSafeInteger(integer) || flags.includes('#'))
        throw new Refused(`%${kind} of ${integer}`)
      const text = integer.toString(kind === 'o' ? 8 : kind === 'u' ? 10 : 16).padStart(digits ?? 0, '0')
      return kind === 'X' ? text.toUpperCase() : text
    }
    case 'f':
    case 'F':
      return signed(fixed(numberOf(value), digits ?? 6), flags)
    case 'e':
    case 'E': {
      const text = signed(exponential(numberOf(value), digits ?? 6), flags)
      return kind === 'E' ? text.toUpperCase() : text
    }
    case 'g':
    case 'G': {
      const text = signed(general(numberOf(value), digits ?? 6, flags.includes('#')), flags)
      return kind === 'G' ? text.toUpperCase() : text
    }
    default:
      throw new Refused(`the conversion %${kind}`)
  }
}

function whole(value: Value, digits: number | undefined): string {
  const integer = Math.trunc(numberOf(value))
  if (!Number.isSafeInteger(integer)) throw new Refused('%d of so large a number')
  const text = Math.abs(integer)
    .toString()
    .padStart(digits ?? 1, '0')
  return integer < 0 ? `-${text}` : text
}

function signed(text: string, flags: string): string {
  if (text.startsWith('-')) return text
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}
