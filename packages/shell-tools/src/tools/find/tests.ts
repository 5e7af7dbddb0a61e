import type { FileFacts } from '../../contract.ts'
import { globExpression } from '../pattern.ts'
import { posixSource } from '../posix.ts'
import { QueryError, Unsupported } from './expression.ts'

export interface Entry {
  /** The starting point as given, with the path below that point. */
  readonly shown: string
  readonly path: string
  readonly start: string
  readonly depth: number
  readonly stat: FileFacts
}

export interface FindContext {
  /** Milliseconds. */
  readonly now: number
  readFile(path: string): Promise<FileFacts>
  readLink(path: string): Promise<string>
  isEmptyDirectory(path: string): Promise<boolean>
  /** The facts of a link's target if {@link Entry.stat} describes the link itself, and the reverse. */
  otherSide(entry: Entry): Promise<FileFacts>
}

export type Test = (entry: Entry) => boolean | Promise<boolean>

const day = 86_400_000
const minute = 60_000
/** Assumed bounds of a directory's size in bytes, which depends on the store. */
const directorySizes = [1, 65_536] as const

export function typeOf(stat: FileFacts): string {
  return stat.isSymbolicLink ? 'l' : stat.isDirectory ? 'd' : stat.isFile ? 'f' : '?'
}

/** The name for `-name`: without trailing slashes. */
export function nameOf(shown: string): string {
  const bare = shown.replace(/\/+$/, '')
  return bare === '' ? '/' : bare.slice(bare.lastIndexOf('/') + 1)
}

/** @throws QueryError, Unsupported */
export async function compileTest(name: string, values: readonly string[], context: FindContext): Promise<Test> {
  const [value = '', second = ''] = values
  const fold = name.startsWith('-i')
  switch (name) {
    case '-true':
      return () => true
    case '-false':
      return () => false
    case '-name':
    case '-iname': {
      const glob = globExpression(value, fold)
      return ({ shown }) => glob?.test(nameOf(shown)) ?? false
    }
    case '-path':
    case '-ipath':
    case '-wholename':
    case '-iwholename': {
      const glob = globExpression(value, fold)
      return ({ shown }) => glob?.test(shown) ?? false
    }
    case '-lname':
    case '-ilname': {
      const glob = globExpression(value, fold)
      return async ({ path, stat }) => stat.isSymbolicLink && (glob?.test(await context.readLink(path)) ?? false)
    }
    case '-regex':
    case '-iregex':
      return regexTest(name, value, second)
    case '-type':
    case '-xtype': {
      const types = value.split(',')
      const unknown = types.find((type) => !/^[fdlpsbcD]$/.test(type))
      if (unknown !== undefined || value === '')
        throw new QueryError(`find: Unknown argument to ${name}: ${unknown ?? value}`)
      return async (entry) => {
        const type = typeOf(name === '-type' ? entry.stat : await context.otherSide(entry))
        if (type === '?' && types.some((wanted) => 'psbcD'.includes(wanted)))
          throw new Unsupported(`find ${name} ${value}`, 'the kinds of special files are not told apart here')
        return types.includes(type)
      }
    }
    case '-size':
      return sizeTest(value, context)
    case '-empty':
      return ({ path, stat }) => (stat.isDirectory ? context.isEmptyDirectory(path) : stat.isFile && stat.size === 0)
    case '-mtime':
    case '-mmin':
      return ageTest(name, value, context.now)
    case '-newer': {
      const { mtime } = await context.readFile(value)
      return ({ stat }) => stat.mtime.getTime() > mtime.getTime()
    }
    case '-newermt': {
      const [, year, month, date, hour = '0', minutes = '0', seconds = '0'] =
        /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?)?$/.exec(value) ?? []
      if (year === undefined) throw new Unsupported('find -newermt', 'give the time as `YYYY-MM-DD hh:mm:ss`')
      const time = new Date(
        Number(year),
        Number(month) - 1,
        Number(date),
        Number(hour),
        Number(minutes),
        Number(seconds),
      )
      return ({ stat }) => stat.mtime.getTime() > time.getTime()
    }
    case '-perm':
      return permissionTest(value)
    default:
      throw new Unsupported(`find ${name}`, 'this test is not known here')
  }
}

function regexTest(name: string, pattern: string, type: string): Test {
  const isEmacs = /^(?:emacs|findutils-default)$/.test(type)
  const extended = /^(?:posix-extended|egrep|posix-egrep)$/.test(type)
  // In the syntax of emacs, `+` and `?` are operators without a backslash.
  const text = isEmacs
    ? pattern.replace(/\[\^?\]?[^\]]*\]|\\?[^]/g, (one) =>
        /^[+?]$/.test(one) ? `\\${one}` : /^\\[+?]$/.test(one) ? one.charAt(1) : one,
      )
    : pattern
  const isKnown = isEmacs ? !/\\[{}]|\[:/.test(pattern) : extended || /^(?:posix-basic|sed|grep)$/.test(type)
  const source = isKnown ? posixSource(text, { extended, longest: false, lines: !isEmacs }) : undefined
  if (source === undefined)
    throw new Unsupported(`find ${name}`, `\`${pattern}\` has a part that is not known here; pipe into grep -E`)
  const expression = new RegExp(`^(?:${source})$`, name === '-iregex' ? 'iu' : 'u')
  return ({ shown }) => expression.test(shown)
}

function numberOf(name: string, value: string): { readonly sign: string; readonly count: number } {
  const [, sign = '', digits] = /^([+-]?)(\d+(?:\.\d+)?)$/.exec(value) ?? []
  if (digits === undefined) throw new QueryError(`find: invalid argument '${value}' to '${name}'`)
  return { sign, count: Number(digits) }
}

function sizeTest(value: string, context: FindContext): Test {
  const units: Readonly<Record<string, number>> = { c: 1, w: 2, b: 512, k: 1024, M: 1024 ** 2, G: 1024 ** 3 }
  const [, number = '', letter = 'b'] = /^([+-]?\d+)([cwbkMG]?)$/.exec(value) ?? []
  if (number === '') throw new QueryError(`find: Invalid argument '${value}' to -size`)
  const { sign, count } = numberOf('-size', number)
  const unit = units[letter === '' ? 'b' : letter] ?? 512
  const holds = (size: number) => {
    const blocks = Math.ceil(size / unit)
    return sign === '+' ? blocks > count : sign === '-' ? blocks < count : blocks === count
  }
  return async ({ path, stat }) => {
    if (stat.isSymbolicLink) return holds(Buffer.byteLength(await context.readLink(path)))
    if (!stat.isDirectory) return holds(stat.size)
    const [least, most] = directorySizes.map(holds)
    const between = holds(4096)
    if (least !== most || least !== between)
      throw new Unsupported(`find -size ${value}`, "a directory's size is not known here; put `-type f` before it")
    return between
  }
}

function ageTest(name: string, value: string, now: number): Test {
  const { sign, count } = numberOf(name, value)
  if (name === '-mmin') {
    return ({ stat }) => {
      const age = now - stat.mtime.getTime()
      if (sign === '+') return age > count * minute
      return sign === '-' ? age < count * minute : age < count * minute && age >= (count - 1) * minute
    }
  }
  return ({ stat }) => {
    const age = now - stat.mtime.getTime()
    if (sign === '+') return age > (count + 1) * day
    return sign === '-' ? age < count * day : age >= count * day && age < (count + 1) * day
  }
}

const every = 0o777

function permissionTest(value: string): Test {
  const [, sign = '', mode = ''] = /^([-/]?)(.*)$/s.exec(value) ?? []
  const bits = /^[0-7]{1,4}$/.test(mode) ? Number.parseInt(mode, 8) : symbolicMode(mode)
  if (bits === undefined) throw new QueryError(`find: invalid mode '${value}'`)
  if (bits > every) throw new Unsupported(`find -perm ${value}`, 'setuid, setgid and sticky bits are not known here')
  return ({ stat }) => {
    const own = stat.mode & every
    if (sign === '-') return (own & bits) === bits
    return sign === '/' ? bits === 0 || (own & bits) !== 0 : own === bits
  }
}

const rights: Readonly<Record<string, number>> = { r: 4, w: 2, x: 1 }
const shifts: Readonly<Record<string, number>> = { u: 6, g: 3, o: 0 }

function symbolicMode(text: string): number | undefined {
  let bits = 0
  for (const clause of text.split(',')) {
    const [, who = '', operator, what = ''] = /^([ugoa]*)([+=])([rwx]*)$/.exec(clause) ?? []
    if (operator === undefined) return undefined
    const amount = [...what].reduce((sum, letter) => sum | (rights[letter] ?? 0), 0)
    const whose = who === '' || who.includes('a') ? 'ugo' : who
    for (const one of whose) bits |= amount << (shifts[one] ?? 0)
  }
  return bits
}
