import type { Random } from './random.ts'

/** The files in the directory of each case; a name that ends with a slash is a directory. */
export const globFiles = [
  ...['a', 'b', 'ab', 'abc', 'A', 'B1', '1', '2.txt', 'a.b', '-x', 'a-b', 'a b', '[a]', '*', 'a]', 'é', '.h', '.a.b'],
  ...['d/a', 'd/b1', 'd/.h', 'd/e/c', 'D/a', '.d/a', '!a', '^b', 'a\\b'],
]

const names = ['a', 'b', 'A', '1', '.h', '-', 'é', '.txt', 'ab', 'd', ']', '!', '^']

function drawBracket(random: Random): string {
  const sign = random.chance(0.35) ? random.pick(['!', '^']) : ''
  const members = random.many(1, 3, () =>
    random.pick([
      'a',
      'b',
      '1',
      '-',
      '.',
      'a-c',
      'A-Z',
      '0-9',
      '[:alpha:]',
      '[:upper:]',
      '[:odd:]',
      "'*'",
      '"]"',
      "'-'",
      '\\]',
      '!',
      '*',
      '[',
    ]),
  )
  return `[${sign}${random.chance(0.1) ? ']' : ''}${members}${random.chance(0.93) ? ']' : ''}`
}

function drawSegment(random: Random): string {
  return random.many(1, 3, () => {
    const choice = random.below(14)
    if (choice < 4) return '*'
    if (choice < 5) return '?'
    if (choice < 7) return drawBracket(random)
    if (choice < 10) return random.pick(names)
    if (choice < 12) return random.pick(["'*'", '"?"', "'['", '"a"', '\\*', '\\[', '\\a', '"]"', '"-"'])
    return random.pick(['${p}', '"$p"', '${p}', '"$q"', '${q}'])
  })
}

function drawGlob(random: Random): string {
  const glob = `${random.chance(0.1) ? './' : ''}${drawSegment(random)}${random.chance(0.3) ? `/${drawSegment(random)}` : ''}`
  return random.chance(0.08) && !glob.includes('$') ? `${glob}/` : glob
}

/** A case whose words are globs, in each place where names are matched. */
export function drawGlobCase(random: Random): string {
  const p = random.pick(['*', '?', '[ab]', 'a', '[!a]*'])
  const set = `p='${p}' q='${random.pick(['a', '*', 'b1', '[a]'])}'`
  const option = random.chance(0.3) ? `shopt -s ${random.pick(['nullglob', 'dotglob', 'nullglob'])}; ` : ''
  const ignored = random.chance(0.2)
    ? `GLOBIGNORE=${random.pick(["'*.b'", "'a*:b'", "'[!a]*'", "'.*'", "'*/a'", "'d/*'", '*', "'[[:upper:]]*'", "'?'", "'\\*'"])}; `
    : ''
  const place = random.below(6)
  const glob = drawGlob(random)
  const show = "printf '<%s>'"
  if (place < 3) return `${set}; ${option}${ignored}${show} ${glob}${random.chance(0.2) ? ` ${drawGlob(random)}` : ''}`
  if (place < 4) return `${set}; ${option}${ignored}for f in ${glob}; do ${show} "$f"; done`
  if (place < 5) return `${set}; ${option}${ignored}l=(${glob}); ${show} "\${l[@]}"`
  return `${set}; ${option}${ignored}set -- ${glob}; ${show} "$#" "$@"`
}
