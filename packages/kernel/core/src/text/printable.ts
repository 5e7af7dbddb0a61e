/**
 * Characters that are invisible, or act on a terminal or the text around: controls, format characters, separators, every space but U+0020,
 * default ignorable ones, the blank Braille pattern, private use, and unassigned code points.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** Writes invisible and acting characters as `\u{…}`, and a lone surrogate as U+FFFD. */
export function escapeUnprintable(text: string): string {
  return text.toWellFormed().replace(unprintable, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** A name that fits in a line. A backslash before `u{` is escaped as well, so two names never look alike. */
export function showName(name: string): string {
  return escapeUnprintable(name.replaceAll('\\u{', '\\u{5c}u{'))
}
