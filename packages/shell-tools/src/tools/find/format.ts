import type { Entry, FindContext } from './tests.ts'
import { nameOf, typeOf } from './tests.ts'
import { Unsupported } from './expression.ts'

type Formatter = (entry: Entry) => string | Promise<string>

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '0': '\0',
  '\\': '\\',
}

/** @throws Unsupported for an unsupported directive */
export function compileFormat(format: string, context: FindContext): Formatter {
  const parts: Formatter[] = []
  const pattern =
    /\\(?:([0-7]{1,3})|([^]))|%([-0 #+]*\d*(?:\.\d+)?)(?:([AaBbCcDdFfgGHhiklmMnpPsStuUyYZ%])([^]?)|([^]?))|[^\\%]+|[^]/gu
  let stopped = false
  for (let match = pattern.exec(format); match !== null && !stopped; match = pattern.exec(format)) {
    const [whole, octal, escape, flags = '', directive, following = ''] = match
    if (octal !== undefined) {
      const code = Number.parseInt(octal, 8)
      parts.push(() => String.fromCharCode(code))
    } else if (escape !== undefined) {
      if (escape === 'c') stopped = true
      else {
        const text = escapes[escape] ?? whole
        parts.push(() => text)
      }
    } else if (directive === undefined) {
      if (whole.startsWith('%')) throw new Unsupported(`find -printf ${whole}`, 'this directive is not known here')
      parts.push(() => whole)
    } else {
      const long = directive === 'T'
      if (!long) pattern.lastIndex -= following.length
      if (/[0 #+.]/.test(flags.replace(/^(-?)[1-9]\d*$/, '$1')))
        throw new Unsupported('find -printf', `\`${whole}\`: only a width, such as %-10p, is known here`)
      parts.push(pad(flags, directivePart(directive, following, context)))
    }
  }
  return async (entry) => {
    const texts: string[] = []
    for (const part of parts) texts.push(await part(entry))
    return texts.join('')
  }
}

function pad(flags: string, part: Formatter): Formatter {
  const width = Number(flags.replace('-', ''))
  if (width === 0) return part
  return async (entry) => {
    const text = await part(entry)
    return flags.startsWith('-') ? text.padEnd(width) : text.padStart(width)
  }
}

function directivePart(directive: string, following: string, context: FindContext): Formatter {
  switch (directive) {
    case '%':
      return () => '%'
    case 'p':
      return ({ shown }) => shown
    case 'f':
      return ({ shown }) => nameOf(shown)
    case 'h':
      return ({ shown }) => directoryOf(shown)
    case 'P':
      return ({ shown, start }) =>
        shown === start ? '' : shown.slice(start.endsWith('/') ? start.length : start.length + 1)
    case 'H':
      return ({ start }) => start
    case 'd':
      return ({ depth }) => String(depth)
    case 's':
      return async ({ path, stat }) => {
        if (stat.isDirectory)
          throw new Unsupported('find -printf %s', "a directory's size is not known here; put `-type f` before it")
        return String(stat.isSymbolicLink ? Buffer.byteLength(await context.readLink(path)) : stat.size)
      }
    case 'm':
      return ({ stat }) => (stat.mode & 0o777).toString(8)
    case 'M':
      return ({ stat }) => modeText(typeOf(stat), stat.mode)
    case 'y':
      return ({ stat }) => known(typeOf(stat))
    case 'Y':
      return async (entry) => {
        if (!entry.stat.isSymbolicLink) return known(typeOf(entry.stat))
        const target = await context.otherSide(entry)
        return target.isSymbolicLink ? 'N' : known(typeOf(target))
      }
    case 'l':
      return ({ path, stat }) => (stat.isSymbolicLink ? context.readLink(path) : '')
    case 'T':
      return ({ stat }) => timeText(stat.mtime, following)
    default:
      throw new Unsupported(`find -printf %${directive}`, 'owners, links, blocks and other times are not known here')
  }
}

function known(type: string): string {
  if (type === '?') throw new Unsupported('find -printf %y', 'the kinds of special files are not told apart here')
  return type
}

export function modeText(type: string, mode: number): string {
  const letters = [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-')).join('')
  return (type === 'f' ? '-' : type) + letters
}

function directoryOf(shown: string): string {
  const bare = shown.replace(/\/+$/, '')
  const slash = bare.lastIndexOf('/')
  if (bare === '') return ''
  return slash === -1 ? '.' : bare.slice(0, slash)
}

const two = (value: number) => String(value).padStart(2, '0')

function timeText(time: Date, format: string): string {
  const texts: Readonly<Record<string, () => string>> = {
    Y: () => String(time.getFullYear()),
    m: () => two(time.getMonth() + 1),
    d: () => two(time.getDate()),
    H: () => two(time.getHours()),
    M: () => two(time.getMinutes()),
    y: () => two(time.getFullYear() % 100),
    F: () => `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`,
    D: () => `${two(time.getMonth() + 1)}/${two(time.getDate())}/${two(time.getFullYear() % 100)}`,
    R: () => `${two(time.getHours())}:${two(time.getMinutes())}`,
  }
  const text = texts[format]
  if (text === undefined)
    throw new Unsupported(
      `find -printf %T${format}`,
      'use %TY %Tm %Td %TH %TM %TF %TR: fractions of a second are not known here',
    )
  return text()
}
