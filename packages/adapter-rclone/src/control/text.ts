/** What was to be text, of data that comes from outside; anything else is empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
