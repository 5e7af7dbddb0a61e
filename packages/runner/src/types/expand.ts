/** Fills in the templates of every string in a JSON value. */
export function expandDeep(value: unknown, expand: (text: string) => string): unknown {
  if (typeof value === 'string') return expand(value)
  if (Array.isArray(value)) return value.map((item: unknown) => expandDeep(item, expand))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expandDeep(inner, expand)]))
}
