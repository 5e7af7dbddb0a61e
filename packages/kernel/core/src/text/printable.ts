/**
 * Characters that are invisible, or affect a terminal or the text around: controls, format characters, separators, every space but U+0020,
 * default ignorable ones, the blank Braille pattern, private use, and unassigned code points.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** Replaces unprintable characters by `\u{…}`, and a lone surrogate by U+FFFD. */
export function escapeUnprintable(text: string): string {
  return text.toWellFormed().replace(unprintable, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** Returns a name that fits in one line. Also escapes a backslash before `u{`, so that different names remain different. */
export function showName(name: string): string {
  return escapeUnprintable(name.replaceAll('\\u{', '\\u{5c}u{'))
}
