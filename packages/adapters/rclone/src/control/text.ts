/** Returns external data that is text; any other value becomes empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
