/** Characters that models and editors exchange, one for one. */
const plain: ReadonlyMap<string, string> = new Map([
  ...[...'\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uFE58\uFE63\uFF0D'].map((dash) => [dash, '-'] as const),
  ...[...'\u2018\u2019\u201A\u201B\u2032\u02BC\uFF07'].map((quote) => [quote, "'"] as const),
  ...[...'\u201C\u201D\u201E\u201F\u2033\u00AB\u00BB\uFF02'].map((quote) => [quote, '"'] as const),
  ...[...'\u00A0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000'].map(
    (blank) => [blank, ' '] as const,
  ),
])

const lookalikes = new RegExp(`[${[...plain.keys()].join('')}]`, 'gu')

export const toPlain = (text: string): string =>
  text.replaceAll(lookalikes, (character) => plain.get(character) ?? character)
