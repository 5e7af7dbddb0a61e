export class ScriptProblem extends Error {}

export type Address =
  | { readonly type: 'line'; readonly number: number }
  | { readonly type: 'last' }
  | { readonly type: 'step'; readonly first: number; readonly step: number }
  | { readonly type: 'regex'; readonly regex: RegExp | undefined }
  | { readonly type: 'count' | 'multiple'; readonly number: number }

/** Text, the number of a group (0 is the whole match), or a case change for the rest. */
export type Piece = string | number | { readonly fold: 'U' | 'L' | 'u' | 'l' | 'E' }

export interface Command {
  readonly name: string
  readonly from?: Address
  readonly to?: Address
  readonly negated: boolean
  /** The position after the `}` that closes a `{`. */
  end?: number
  readonly text?: string
  readonly label?: string
  readonly code?: number
  readonly regex?: RegExp | undefined
  readonly pieces?: readonly Piece[]
  readonly all?: boolean
  readonly number?: number
  readonly print?: boolean
  readonly table?: ReadonlyMap<string, string>
}
