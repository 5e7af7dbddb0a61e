import { escapeUnprintable } from '@ws/core/executor'

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A name as a terminal may show it: characters that hide or act are written out, and so is the backslash. */
export function escapeName(name: string): string {
  const escaped = name.replaceAll('\\', '\\\\').replace(/[\n\r\t]/gu, (character) => short[character] ?? character)
  return escapeUnprintable(escaped)
}

/** Characters that act on a terminal or on the order of text. Ends of lines and tabs stay. */
const acting = /(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu
/** The same, without the colours that `ws` itself uses. */
// oxlint-disable-next-line no-control-regex -- a colour begins with one
const actingBesideColours = /(?!\u001b\[[\d;]*m)(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

/** Content as a terminal may show it: characters that act are written out, and all others stay. */
export function escapeText(text: string, { colours = false }: { readonly colours?: boolean } = {}): string {
  return text.replace(colours ? actingBesideColours : acting, escapeUnprintable)
}

/** The same JSON value, in text that acts on no terminal. */
export function escapeJson(text: string): string {
  return text.replace(acting, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A name as this stream may show it: escaped on a terminal, as it is elsewhere. */
export function nameOn({ isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>, name: string): string {
  return isTTY ? escapeName(name) : name
}
