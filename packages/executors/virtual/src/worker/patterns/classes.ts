export const classes: Readonly<Record<string, string>> = {
  alnum: '\\p{L}\\p{N}',
  alpha: '\\p{L}',
  ascii: '\\x00-\\x7f',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f-\\x9f',
  digit: '0-9',
  graph: '!-~\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}',
  lower: '\\p{Ll}',
  print: ' -~\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}',
  punct: '!-\\x2f:-@\\[-`{-~\\p{P}\\p{S}',
  space: ' \\t-\\r\\x{2028}\\x{2029}\\x{3000}',
  upper: '\\p{Lu}',
  word: '\\p{L}\\p{N}_',
  xdigit: '0-9A-Fa-f',
}

const known = new Map<string, RegExp>()

/** @returns a test for the members of a class; `undefined` for an unknown name: such a class has no members */
export function classTest(name: string): RegExp | undefined {
  const members = Object.hasOwn(classes, name) ? classes[name] : undefined
  if (members === undefined) return undefined
  let test = known.get(name)
  if (test === undefined) known.set(name, (test = new RegExp(`[${members.replaceAll('\\x{', '\\u{')}]`, 'u')))
  return test
}
