export type Expression =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }
  | { readonly kind: 'test'; readonly name: string; readonly values: readonly string[] }

export interface Query {
  readonly starts: readonly string[]
  readonly follow: 'never' | 'starts' | 'always'
  readonly expression: Expression
  readonly depth: boolean
  readonly most: number
  readonly least: number
}

export class QueryError extends Error {}

/** An unsupported part of find, with the reason. */
export class Unsupported extends Error {
  readonly subject: string

  constructor(subject: string, reason: string) {
    super(reason)
    this.subject = subject
  }
}

const arity: Readonly<Record<string, number>> = {
  '-name': 1,
  '-iname': 1,
  '-path': 1,
  '-ipath': 1,
  '-wholename': 1,
  '-iwholename': 1,
  '-lname': 1,
  '-ilname': 1,
  '-regex': 1,
  '-iregex': 1,
  '-type': 1,
  '-xtype': 1,
  '-size': 1,
  '-empty': 0,
  '-mtime': 1,
  '-mmin': 1,
  '-newer': 1,
  '-newermt': 1,
  '-perm': 1,
  '-true': 0,
  '-false': 0,
  '-print': 0,
  '-print0': 0,
  '-printf': 1,
  '-delete': 0,
  '-prune': 0,
  '-quit': 0,
}

const reasons: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    '-user -group -uid -gid -nouser -nogroup'.split(' ').map((name) => [name, 'files have no owners here']),
  ),
  ...Object.fromEntries(
    '-atime -amin -anewer -ctime -cmin -cnewer -used'
      .split(' ')
      .map((name) => [
        name,
        'the only time that is known is that of the last change to the content; use -mtime, -mmin or -newer',
      ]),
  ),
  ...Object.fromEntries('-inum -links -samefile'.split(' ').map((name) => [name, 'hard links are not known here'])),
  '-ls': 'owners, links and blocks are not known here; use -printf',
  '-fls': 'owners, links and blocks are not known here; use -printf',
}

/** Actions that replace the default `-print`. */
const actions = new Set(['-print', '-print0', '-printf', '-delete', '-quit', '-exec', '-execdir'])

class Parser {
  readonly #words: string[]
  acts = false
  deletes = false
  prunes = false
  asked = false
  depth = false
  follow: Query['follow']
  most = Infinity
  least = 0
  #regex = 'emacs'

  constructor(words: readonly string[], follow: Query['follow']) {
    this.#words = [...words]
    this.follow = follow
  }

  get rest(): number {
    return this.#words.length
  }

  alternatives(): Expression {
    const parts = [this.#conjunction()]
    while (this.#words[0] === '-o' || this.#words[0] === '-or') {
      this.#words.shift()
      parts.push(this.#conjunction())
    }
    if (this.#words[0] === ',') throw new Unsupported('find ,', 'use two commands')
    return parts.length === 1 ? (parts[0] as Expression) : { kind: 'or', parts }
  }

  #conjunction(): Expression {
    const parts = [this.#negation()]
    for (;;) {
      const next = this.#words[0]
      if (next === undefined || ['-o', '-or', ')', ','].includes(next)) break
      if (next === '-a' || next === '-and') this.#words.shift()
      parts.push(this.#negation())
    }
    return parts.length === 1 ? (parts[0] as Expression) : { kind: 'and', parts }
  }

  #negation(): Expression {
    const word = this.#words.shift()
    if (word === undefined) throw new QueryError('find: expected an expression')
    if (word === '!' || word === '-not') return { kind: 'not', part: this.#negation() }
    if (word === '(') {
      if (this.#words[0] === ')') throw new QueryError('find: invalid expression; empty parentheses are not allowed.')
      const inner = this.alternatives()
      if (this.#words.shift() !== ')')
        throw new QueryError("find: invalid expression; I was expecting to find a ')' somewhere but did not see one.")
      return inner
    }
    if (word === ')') throw new QueryError("find: you have too many ')'")
    return this.#test(word)
  }

  #test(word: string): Expression {
    const always: Expression = { kind: 'test', name: '-true', values: [] }
    if (word === '-maxdepth' || word === '-mindepth') {
      const value = this.#value(word)
      if (!/^\d+$/.test(value))
        throw new QueryError(`find: Expected a positive decimal integer argument to ${word}, but got '${value}'`)
      if (word === '-maxdepth') this.most = Number(value)
      else this.least = Number(value)
      return always
    }
    if (word === '-depth' || word === '-d') {
      this.depth = this.asked = true
      return always
    }
    if (word === '-follow') {
      this.follow = 'always'
      return always
    }
    if (['-noleaf', '-warn', '-nowarn', '-ignore_readdir_race', '-noignore_readdir_race'].includes(word)) return always
    if (word === '-regextype') {
      this.#regex = this.#value(word)
      return always
    }
    if (actions.has(word)) this.acts = true
    if (word === '-prune') this.prunes = true
    if (word === '-delete') this.depth = this.deletes = true
    if (word === '-exec' || word === '-execdir') return { kind: 'test', name: word, values: this.#command(word) }
    const count = arity[word]
    if (count === undefined) {
      if (!word.startsWith('-')) throw new QueryError(`find: paths must precede expression: '${word}'`)
      const reason = reasons[word]
      throw new Unsupported(`find ${word}`, reason ?? 'this test or action is not known here')
    }
    const values = Array.from({ length: count }, () => this.#value(word))
    return { kind: 'test', name: word, values: word.endsWith('regex') ? [...values, this.#regex] : values }
  }

  #value(word: string): string {
    const value = this.#words.shift()
    if (value === undefined) throw new QueryError(`find: missing argument to '${word}'`)
    return value
  }

  #command(word: string): string[] {
    const end = this.#words.findIndex(
      (candidate, index) => candidate === ';' || (candidate === '+' && this.#words[index - 1] === '{}'),
    )
    if (end < 1) throw new QueryError(`find: missing argument to '${word}'`)
    return this.#words.splice(0, end + 1)
  }
}

/** @throws QueryError, Unsupported */
export function parseQuery(given: readonly string[]): Query {
  const words = [...given]
  let follow: Query['follow'] = 'never'
  for (let word = words[0]; word !== undefined && /^-[PLHDO]/.test(word); word = words[0]) {
    if (!/^-[PLH]$/.test(word)) throw new Unsupported(`find ${word}`, 'debugging and optimising are not known here')
    follow = word === '-L' ? 'always' : word === '-H' ? 'starts' : 'never'
    words.shift()
  }
  const starts: string[] = []
  while (words[0] !== undefined && !/^(?:-.|[!(),]$)/s.test(words[0])) starts.push(words.shift() as string)
  const parser = new Parser(words, follow)
  let expression: Expression = { kind: 'test', name: '-true', values: [] }
  if (words.length > 0) expression = parser.alternatives()
  if (parser.rest > 0) throw new QueryError("find: you have too many ')'")
  // Otherwise -delete would delete pruned entries.
  if (parser.deletes && parser.prunes && !parser.asked)
    throw new QueryError(
      'find: The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  If you want to carry on anyway, just explicitly use the -depth option.',
    )
  if (!parser.acts) expression = { kind: 'and', parts: [expression, { kind: 'test', name: '-print', values: [] }] }
  return {
    starts: starts.length === 0 ? ['.'] : starts,
    follow: parser.follow,
    expression,
    depth: parser.depth,
    most: parser.most,
    least: parser.least,
  }
}
