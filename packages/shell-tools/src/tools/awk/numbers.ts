/** Rounds exactly to decimal places, as C does: a tie goes to the even digit. */
export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value)
  const { mantissa, exponent } = partsOf(Math.abs(value))
  const scaled = mantissa * 10n ** BigInt(digits)
  const rounded = exponent >= 0 ? scaled << BigInt(exponent) : divideToEven(scaled, 1n << BigInt(-exponent))
  const text = rounded.toString().padStart(digits + 1, '0')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** Formats with an exponent of two digits or more (`1.5e+04`). */
export function exponential(value: number, digits: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value)
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const { significant, power } = significantDigits(Math.abs(value), digits + 1)
  const head = significant.slice(0, 1) + (digits > 0 ? `.${significant.slice(1)}` : '')
  return `${sign}${head}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** The shorter of `fixed` and `exponential`, without trailing zeros unless `keep`. */
export function general(value: number, precision: number, keep = false): string {
  if (!Number.isFinite(value)) return nonFiniteText(value)
  const wanted = precision === 0 ? 1 : precision
  const { power } = significantDigits(Math.abs(value), wanted)
  const useExponent = power < -4 || power >= wanted
  const text = useExponent ? exponential(value, wanted - 1) : fixed(value, wanted - 1 - power)
  if (keep || !text.includes('.')) return text
  const [, head = text, tail = ''] = /^([^e]*?)0*(e.*)?$/.exec(text) ?? []
  return head.replace(/\.$/, '') + tail
}

function nonFiniteText(value: number): string {
  return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf'
}

function significantDigits(value: number, count: number): { readonly significant: string; readonly power: number } {
  if (value === 0) return { significant: '0'.repeat(count), power: 0 }
  let power = Math.floor(Math.log10(value))
  for (;;) {
    const { mantissa, exponent } = partsOf(value)
    const shift = count - 1 - power
    const up = mantissa * (shift > 0 ? 10n ** BigInt(shift) : 1n) * (exponent > 0 ? 1n << BigInt(exponent) : 1n)
    const down = (shift < 0 ? 10n ** BigInt(-shift) : 1n) * (exponent < 0 ? 1n << BigInt(-exponent) : 1n)
    const text = divideToEven(up, down).toString()
    if (text.length === count) return { significant: text, power }
    power += text.length > count ? 1 : -1
  }
}

function divideToEven(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor
  const twice = (value % divisor) * 2n
  return twice > divisor || (twice === divisor && quotient % 2n === 1n) ? quotient + 1n : quotient
}

function partsOf(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const fraction = bits & 0xfffffffffffffn
  const raw = Number((bits >> 52n) & 0x7ffn)
  return raw === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: raw - 1075 }
}
