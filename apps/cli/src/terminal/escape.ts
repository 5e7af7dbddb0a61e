import { escapeUnprintable } from '@ws/core/executor'

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A name as a terminal may show it: characters that hide or act are written out, and so is the backslash. */
export function escapeName(name: string): string {
  const escaped = name.replaceAll('\\', '\\\\').replace(/[\n\r\t]/gu, (character) => short[character] ?? character)
  return escapeUnprintable(escaped)
}
