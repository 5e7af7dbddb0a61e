/** Gives a text of data that comes from outside; any other value becomes empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
