export type Expression =
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'regex'; readonly source: string }
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'element'; readonly name: string; readonly index: readonly Expression[] }
  | { readonly type: 'field'; readonly index: Expression }
  | { readonly type: 'assign'; readonly operator: string; readonly target: Expression; readonly value: Expression }
  | { readonly type: 'step'; readonly by: 1 | -1; readonly before: boolean; readonly target: Expression }
  | { readonly type: 'unary'; readonly operator: '!' | '-' | '+'; readonly part: Expression }
  | { readonly type: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'match'; readonly negated: boolean; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'in'; readonly index: readonly Expression[]; readonly name: string }
  | { readonly type: 'choice'; readonly test: Expression; readonly yes: Expression; readonly no: Expression }
  | { readonly type: 'call'; readonly name: string; readonly values: readonly Expression[] }
  | { readonly type: 'builtin'; readonly name: string; readonly values: readonly Expression[] }
  | { readonly type: 'getline'; readonly target: Expression | undefined }
  | { readonly type: 'group'; readonly parts: readonly Expression[] }

export type Statement =
  | { readonly type: 'expression'; readonly value: Expression }
  | {
      readonly type: 'print' | 'printf'
      readonly values: readonly Expression[]
      readonly redirection?: { readonly kind: '>' | '>>' | '|'; readonly target: Expression }
    }
  | { readonly type: 'block'; readonly body: readonly Statement[] }
  | { readonly type: 'if'; readonly test: Expression; readonly yes: Statement; readonly no?: Statement }
  | { readonly type: 'while'; readonly test: Expression; readonly body: Statement; readonly first: boolean }
  | {
      readonly type: 'for'
      readonly start?: Statement
      readonly test?: Expression
      readonly step?: Statement
      readonly body: Statement
    }
  | { readonly type: 'each'; readonly variable: string; readonly name: string; readonly body: Statement }
  | { readonly type: 'leave'; readonly how: 'break' | 'continue' | 'next' | 'nextfile' }
  | { readonly type: 'exit' | 'return'; readonly value?: Expression }
  | { readonly type: 'delete'; readonly name: string; readonly index?: readonly Expression[] }

export interface Rule {
  readonly when: 'BEGIN' | 'END' | 'always' | 'pattern' | 'range'
  readonly from?: Expression
  readonly to?: Expression
  readonly body: Statement | undefined
}

export interface Function {
  readonly parameters: readonly string[]
  readonly body: Statement
}

export interface Program {
  readonly rules: readonly Rule[]
  readonly functions: ReadonlyMap<string, Function>
}
