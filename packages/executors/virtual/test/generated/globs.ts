import type { Random } from './random.ts'

/** The files in the directory of each case; a name that ends with a slash is a directory. */
export const globFiles = [
  ...['a', 'b', 'ab', 'abc', 'A', 'B1', '1', '2.txt', 'a.b', '-x', 'a-b', 'a b', '[a]', '*', 'a]', 'é', '.h', '.a.b'],
  ...['d/a', 'd/b1', 'd/.h', 'd/e/c', 'd/e/.i/a', 'D/a', '.d/a', '!a', '^b', 'a\\b', 'x y/a b', 'x y/b*'],
]

const names = ['a', 'b', 'A', '1', '.h', '-', 'é', '.txt', 'ab', 'd', ']', '!', '^', 'x', '.', 'e']
const quoted = [
  ...["'*'", '"?"', "'['", '"a"', '\\*', '\\[', '\\a', '"]"', '"-"', '""', "''", "'x y'", '"a b"', "' '", '\\ ', '"/"'],
  ...["$'*'", '"a*"', '"\\*"', '"$((n++))"', '"${z:=*}"', "'\\'", '"//"', '"."', '"$p$q"', '"a$q"', '"${e}"'],
]
const open = [
  ...['$p', '${p}', '$q', '${q}', '$e', '${e}', '$w', '${w}', '$(echo "$q")', '`echo "$w"`', '$((n+1))', '${#q}', '$n'],
  ...['${q#a}', '${w% *}', '${w/ /*}', '${u-a*}', '${u:-"*"}', '${u:-a "b c" *}', '${p:+$q}', '${e:-d/*}', '${n+"$w"}'],
  ...['${u:=*}', '$*', '$@', '${l[@]}', '${l[*]}', '${@:2}', '${l[@]#a}', '${1+"$@"}', '${!l[@]}', '${p:0:1}'],
]
const listed = ['"$@"', '"$*"', '"${l[@]}"', '"a${l[@]}b"', '"${l[@]:1}"', '"$q$@"', '"${l[@]#a}"', '"${u-$p}"']

function drawBracket(random: Random): string {
  const sign = random.chance(0.35) ? random.pick(['!', '^']) : ''
  const members = random.many(1, 3, () =>
    random.pick([
      ...[
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
      ],
      ...['!', '*', '[', '$p', '"$q"', '/', '[:punct:]', 'é'],
    ]),
  )
  return `[${sign}${random.chance(0.1) ? ']' : ''}${members}${random.chance(0.93) ? ']' : ''}`
}

function drawSegment(random: Random): string {
  return random.many(1, 3, () => {
    const choice = random.below(28)
    if (choice < 7) return '*'
    if (choice < 9) return '?'
    if (choice < 12) return drawBracket(random)
    if (choice < 18) return random.pick(names)
    if (choice < 22) return random.pick(quoted)
    if (choice < 23) return random.pick(listed)
    if (choice < 24)
      return random.pick(['{a,b}', '{d,x\\ y}', '{1..3}', '{,a}', '{*,?}', '{a,{b,d/}}', '{"$q",a}', '{$p,b}'])
    if (choice < 25) return random.pick(['"$p"', '"$q"', '"$w"', '"$e"', "'*'"])
    return random.pick(open)
  })
}

function drawWord(random: Random): string {
  let word = random.chance(0.12) ? random.pick(['./', 'd/', '~/z', './/', './"$e"/', './$e/', 'd/../', '"x y"/']) : ''
  word += drawSegment(random)
  for (let more = random.below(10); more > 6; more--) word += random.pick(['/', '/', '/', '//']) + drawSegment(random)
  if (random.chance(0.1)) word += '/'
  // A part that is empty would leave a path of the machine.
  return /^[a-z!.*?~-]/i.test(word) || !word.includes('/') ? word : `d${word}`
}

/** A case whose words become fields and names of files, in each place where that is done. */
export function drawGlobCase(random: Random): string {
  const p = random.pick([
    '*',
    '?',
    '[ab]',
    'a',
    '[!a]*',
    '*/',
    '.*',
    '[',
    '\\*',
    '\\a*',
    '*/*',
    'd/*',
    '[a\\]]',
    './*',
    '\\',
  ])
  const q = random.pick(['a', '*', 'b1', '[a]', 'a b', '.', 'd', '?', '', '-'])
  const w = random.pick(['a b', ' a', 'b ', 'a* b', 'x  y', '* ?', 'a:b', ':a::', 'd/* a', 'x:y z', ' '])
  const set = `p='${p}' q='${q}' w='${w}' e= n=${random.below(4)} l=(${random.pick(["'a b' c", "a '' 'b*'", '', "''", "'*'"])})`
  const given = `set -- ${random.pick(['', "'a b' '*'", "''", "a '' b", 'x'])}; unset u z`
  const option = random.chance(0.3) ? `shopt -s ${random.pick(['nullglob', 'dotglob'])}; ` : ''
  const split = random.chance(0.15) ? `IFS=${random.pick([':', "' :'", '', 'a', "$'\\n'", '1', '/', "': '"])}; ` : ''
  const patterns = [
    "'*.b'",
    "'a*:b'",
    "'[!a]*'",
    "'.*'",
    "'*/a'",
    "'d/*'",
    '*',
    "'[[:upper:]]*'",
    "'?'",
    "'\\*'",
    "'[a:b]:d'",
    "'./a'",
  ]
  const ignored =
    random.chance(0.12) && !option.includes('dotglob') ? `GLOBIGNORE=${random.pick([...patterns, '"$p"'])}; ` : ''
  const before = `${set}; ${given}; ${option}${split}${ignored}${random.chance(0.03) ? 'set -f; ' : ''}`
  const show = "printf '<%s>'"
  const word = drawWord(random)
  switch (random.below(10)) {
    case 0:
      return `${before}for f in ${word}; do ${show} "$f"; done`
    case 1:
      // bash reads `[…]` at the start as a key.
      return `${before}l=(${word.startsWith('[') ? 'd' : ''}${word} ${random.chance(0.3) ? drawWord(random) : ''}); ${show} "\${#l[@]}" "\${l[@]}"`
    case 2:
      return `${before}set -- ${word}; ${show} "$#" "$@"`
    case 3:
      return `${before}f() { local v=${word} w; ${show} "$v" "$@"; }; f ${word}`
    case 4:
      return `${split === '' ? before : `${set}; ${given}; `}c="printf <%s>"; $c ${word}`
    default:
      return `${before}${show} ${word}${random.chance(0.3) ? ` ${drawWord(random)}` : ''}`
  }
}
