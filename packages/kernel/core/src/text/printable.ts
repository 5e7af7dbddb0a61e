/**
 * Characters that a reader cannot see, or that act on a terminal or on the text around them: controls, format characters
 * (bidi marks, joiners, tags), line and paragraph separators, every space but U+0020, default ignorable ones (variation
 * selectors, Hangul fillers, soft hyphen), the blank Braille pattern, private use, and code points without a character.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** Text in which nothing is hidden: invisible and acting characters are written as `\u{…}`; a lone surrogate is U+FFFD. */
export function escapeUnprintable(text: string): string {
  return text.toWellFormed().replace(unprintable, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/**
 * A name that can stand in a line: as {@link escapeUnprintable} shows it. A backslash before `u{` is itself written as an escape,
 * so that two names never look alike.
 */
export function showName(name: string): string {
  return escapeUnprintable(name.replaceAll('\\u{', '\\u{5c}u{'))
}
