import type { Arguments, CommandRule } from '@ws/shell-tools'
import { timeoutOptions } from '../tools/timeout.ts'

const anything: CommandRule = { raw: true }
const bare: CommandRule = {}

export const otherRules: Readonly<Record<string, CommandRule | string>> = {
  alias: anything,
  bash: anything,
  date: {
    flags: 'u',
    valued: 'd',
    long: ['date=', 'utc'],
    refuse: ({ options, operands }) => refuseDate(options, operands),
  },
  echo: { raw: true, refuse: ({ operands }) => refuseEcho(operands) },
  env: anything,
  expr: { raw: true, refuse: ({ operands }) => refuseExpr(operands) },
  false: bare,
  hostname: 'the name of the machine is not known here',
  printenv: bare,
  printf: anything,
  pwd: { flags: 'LP' },
  python: anything,
  python3: anything,
  seq: { flags: 'w', valued: 's', numeric: true, refuse: refuseSeq },
  sh: anything,
  sleep: bare,
  sqlite3: hasDatabase() ? anything : 'install the package `sql.js` (30 MB) beside the executor',
  time: anything,
  timeout: timeoutOptions,
  true: bare,
  unalias: anything,
  which: { flags: 'a' },
  whoami: bare,
}

/** True if the user has installed the database of `sqlite3`. */
function hasDatabase(): boolean {
  try {
    import.meta.resolve('sql.js')
    return true
  } catch {
    return false // `import.meta.resolve` throws for a package that is not installed
  }
}

function refuseSeq({ options, operands }: Arguments): string | undefined {
  if (operands.length > 3) return 'give a first number, a step and a last number'
  if (operands.slice(0, -1).some((word) => /\.\d*0$|\.$/.test(word))) return 'a number that ends in .0'
  const negative = operands.some((word) => word.startsWith('-')) || options.some(({ name }) => /^-\d/.test(name))
  return negative && options.some(({ name }) => name === '-w') ? 'equal widths of negative numbers' : undefined
}

/** Refuses octal escapes from \200 on, which stand for bytes: just-bash treats these escapes as characters. */
function refuseEscapes(words: readonly string[]): string | undefined {
  return words.some((word) => /\\0?[2-3][0-7]{2}/.test(word)) ? 'octal escapes above \\177; use \\x' : undefined
}

function refuseEcho(words: readonly string[]): string | undefined {
  const [first = ''] = words
  if (/^-[neE]{2,}$/.test(first) && first !== '-ne' && first !== '-en') return `\`${first}\`; use printf`
  if (!/^-n?en?$/.test(first)) return undefined
  return words.some((word) => /\\x[89a-fA-F]/.test(word)) ? 'bytes as escapes; use printf' : refuseEscapes(words)
}

function refuseExpr(words: readonly string[]): string | undefined {
  return words.some((word) => [':', 'match', 'index', 'substr', 'length', '|', '&'].includes(word)) ||
    words.some((word) => /[^\0-\x7f]/.test(word))
    ? 'only + - * / % and comparisons of numbers are known here'
    : undefined
}

const dateFormat = /^\+(?:%[YmdHMSFTyjaAbBesuwDRCnt%Z]|[^%])*$/s
const dateValue = /^(?:@\d+|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?|now|today|yesterday|tomorrow)$/

/** Refuses invalid days and times, which just-bash would silently replace by the next valid time. */
export function refuseMoment(text: string): string | undefined {
  const [, year = '', month = '', day = '', hour = '0', minute = '0', second = '0'] =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?/.exec(text) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (year !== '' && (date.getUTCMonth() + 1 !== Number(month) || date.getUTCDate() !== Number(day)))
    return `there is no day '${text}'`
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || year.startsWith('0'))
    return `the time '${text}'`
  return undefined
}

function refuseDate(options: readonly { name: string; value?: string | undefined }[], operands: readonly string[]) {
  const text = options.find(({ name }) => name === '-d' || name === '--date')?.value
  if (text !== undefined && !dateValue.test(text))
    return 'give `YYYY-MM-DD hh:mm:ss`, `@SECONDS`, today, yesterday or tomorrow'
  const wrong = refuseMoment(text ?? '')
  if (wrong !== undefined) return wrong
  const [format] = operands
  if (operands.length > 1 || (format !== undefined && !dateFormat.test(format)))
    return 'this format has a part that is not known here'
  return undefined
}
