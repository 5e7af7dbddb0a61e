const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for elements and attributes. Control characters become visible, except tabs and line ends. */
export function escapeHtml(given: string): string {
  return given
    .toWellFormed()
    .replaceAll(/[&<>"']/gu, (character) => named[character] ?? '')
    .replaceAll(/(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) => {
      return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`
    })
}
