import { escapeUnprintable } from '@ws/core/executor'

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Escapes the backslash, and characters that are invisible or control a terminal. */
export function escapeName(name: string): string {
  const escaped = name.replaceAll('\\', '\\\\').replace(/[\n\r\t]/gu, (character) => short[character] ?? character)
  return escapeUnprintable(escaped)
}

/** Characters that control a terminal or change the order of text, except line ends and tabs. */
const acting = /(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu
/** The characters of {@link acting}, but without the colour sequences of `ws` itself. */
// oxlint-disable-next-line no-control-regex -- a colour begins with one
const actingBesideColours = /(?!\u001b\[[\d;]*m)(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

/** Escapes characters that control a terminal. */
export function escapeText(text: string, { colours = false }: { readonly colours?: boolean } = {}): string {
  return text.replace(colours ? actingBesideColours : acting, escapeUnprintable)
}

export function escapeJson(text: string): string {
  return text.replace(acting, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Escapes a name if the stream is a terminal; else returns the name unchanged. */
export function nameOn({ isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>, name: string): string {
  return isTTY ? escapeName(name) : name
}
