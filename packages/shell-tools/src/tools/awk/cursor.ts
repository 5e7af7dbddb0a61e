import { SyntaxProblem, type Token } from './lexer.ts'

export class Cursor {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get token(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '', spaced: false }
  }

  advance(): Token {
    const { token } = this
    this.#at++
    return token
  }

  mark(): number {
    return this.#at
  }

  back(mark: number): void {
    this.#at = mark
  }

  is(kind: Token['kind'], text: string): boolean {
    return this.token.kind === kind && this.token.text === text
  }

  takes(kind: Token['kind'], text: string): boolean {
    const found = this.is(kind, text)
    if (found) this.#at++
    return found
  }

  expect(text: string): void {
    if (!this.takes('operator', text)) throw new SyntaxProblem(`\`${text}\` was expected at \`${this.token.text}\``)
  }

  skipNewlines(): void {
    while (this.token.kind === 'newline') this.#at++
  }

  skipBreaks(): void {
    while (this.token.kind === 'newline' || this.is('operator', ';')) this.#at++
  }
}
