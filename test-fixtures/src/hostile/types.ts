export interface Hostile {
  /** The attack: `percent-encoded traversal`, `NUL`, … */
  readonly kind: string
  /** The path or name itself, unescaped. */
  readonly value: string
}

export function kind(name: string, values: Iterable<string>): Hostile[] {
  return [...values].map((value) => ({ kind: name, value }))
}
