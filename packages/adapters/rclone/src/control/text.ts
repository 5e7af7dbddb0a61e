/** Returns external data that is text; any other value becomes empty. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
