import { virtualError } from '../../mount/errors.ts'

const valid = /^[A-Za-z0-9._-]{1,64}$/

export type Kind = 'session' | 'command'
const operations = { session: 'openSession', command: 'start' } as const

export class Ids<T> {
  readonly #kind: Kind
  readonly #entries = new Map<string, T | undefined>()
  #count = 0

  constructor(kind: Kind) {
    this.#kind = kind
  }

  reserve(id: string | undefined): string {
    const name = id ?? this.#next()
    const operation = operations[this.#kind]
    if (typeof name !== 'string' || !valid.test(name)) {
      throw virtualError({
        code: 'EINVAL',
        operation,
        reason: 'the `id` is not 1 to 64 of letters, digits, `.`, `_` and `-`',
        remedy: 'pass another, or none',
      })
    }
    if (this.#entries.has(name)) {
      throw virtualError({
        code: 'EEXIST',
        operation,
        reason: `there is a ${this.#kind} \`${name}\` already`,
        remedy: `use that one (\`workspace.${this.#kind}('${name}')\`), or pass another \`id\``,
      })
    }
    this.#entries.set(name, undefined)
    return name
  }

  set(id: string, value: T): void {
    this.#entries.set(id, value)
  }

  delete(id: string): void {
    this.#entries.delete(id)
  }

  list(): T[] {
    return [...this.#entries.values()].filter((entry) => entry !== undefined)
  }

  get(id: string): T {
    const entry = this.#entries.get(id)
    if (entry !== undefined) return entry
    const shown = typeof id === 'string' && valid.test(id) ? ` \`${id}\`` : ''
    throw virtualError({
      code: 'ENOENT',
      operation: this.#kind,
      reason: `there is no ${this.#kind}${shown}: it has ended, or never was`,
      remedy:
        this.#kind === 'session'
          ? 'look at `workspace.sessions()`, or open one with `openSession`'
          : 'look at `workspace.commands()`, or start it with `start`',
    })
  }

  #next(): string {
    const prefix = this.#kind === 'session' ? 's' : 'c'
    for (;;) {
      const name = `${prefix}${++this.#count}`
      if (!this.#entries.has(name)) return name
    }
  }
}
