const blank = /[ \t\n\r]*/uy
const text = /"(?:[ !#-[\]-\u{10FFFF}]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/uy
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/uy

class Scanner {
  at = 0
  readonly places = new Map<string, number>()
  readonly #content: string

  constructor(content: string) {
    this.#content = content
  }

  value(path: readonly PropertyKey[]): boolean {
    this.#take(blank)
    if (!this.places.has(keyOf(path))) this.places.set(keyOf(path), this.at)
    if (this.#takes('{')) return this.#members('}', () => this.#member(path))
    if (this.#takes('[')) return this.#members(']', (index) => this.value([...path, index]))
    return this.#take(text) !== undefined || this.#take(literal) !== undefined
  }

  /** True if only blanks follow. */
  end(): boolean {
    this.#take(blank)
    return this.at === this.#content.length
  }

  #members(close: string, member: (index: number) => boolean): boolean {
    this.#take(blank)
    if (this.#takes(close)) return true
    for (let index = 0; ; index += 1) {
      if (!member(index)) return false
      this.#take(blank)
      if (this.#takes(close)) return true
      if (!this.#takes(',')) return false
    }
  }

  #member(path: readonly PropertyKey[]): boolean {
    this.#take(blank)
    const start = this.at
    const key = this.#take(text)
    if (key === undefined) return false
    const own = [...path, String(JSON.parse(key))]
    this.places.set(keyOf(own), start)
    this.#take(blank)
    return this.#takes(':') && this.value(own)
  }

  #takes(character: string): boolean {
    if (this.#content[this.at] !== character) return false
    this.at += 1
    return true
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.#content) ?? []
    this.at += found?.length ?? 0
    return found
  }
}

const keyOf = (path: readonly PropertyKey[]): string => path.map(String).join('\0')

/** The line, from 1, of a key or element in a JSON text. For a missing key, the line of the nearest enclosing part. */
export function lineOf(content: string, path: readonly PropertyKey[]): number {
  const scanner = new Scanner(content)
  scanner.value([])
  for (let length = path.length; length > 0; length -= 1) {
    const found = scanner.places.get(keyOf(path.slice(0, length)))
    if (found !== undefined) return lineAt(content, found)
  }
  return lineAt(content, scanner.places.get('') ?? 0)
}

/** The line, from 1, of the first JSON error; `undefined` without an error. */
export function lineOfError(content: string): number | undefined {
  const scanner = new Scanner(content)
  return scanner.value([]) && scanner.end() ? undefined : lineAt(content, scanner.at)
}

const lineAt = (content: string, offset: number): number => content.slice(0, offset).split('\n').length
