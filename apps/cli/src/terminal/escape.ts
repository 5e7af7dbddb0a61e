// Control characters, bidi marks and line separators: what can make a terminal do or show something else.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A name as a terminal may show it: what could move the cursor or hide text is written out, as is the backslash. */
export function escapeName(name: string): string {
  return name
    .replaceAll('\\', '\\\\')
    .replace(unprintable, (character) => short[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
}
