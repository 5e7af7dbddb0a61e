import type { Random } from './random.ts'

export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

export function drawPrintf(random: Random): string {
  const argument = () =>
    random.pick([
      '1',
      '-5',
      '0x1f',
      '017',
      "'a",
      '"b',
      'abc',
      '',
      '3.7',
      '1e3',
      'a b',
      'x\\ty',
      '%',
      '\\101',
      '-',
      '+4',
      '12abc',
      'é',
    ])
  const format = random.many(1, 4, () => {
    const flags = random.many(0, 1, () => random.pick(['-', '0', '+', ' ', '#']))
    const width = random.chance(0.3) ? random.pick(['5', '3', '*', '10']) : ''
    const precision = random.chance(0.25) ? random.pick(['.2', '.0', '.*', '.5']) : ''
    return random.chance(0.6)
      ? `%${flags}${width}${precision}${random.pick(['s', 's', 'd', 'i', 'x', 'X', 'o', 'u', 'c', 'b', 'q', 'f', 'e', 'g', '%'])}`
      : random.pick(['a', ' ', '\\n', '\\t', '\\\\', '\\x41', '\\101', '%%', ':', '\\u00e9', "\\'"])
  })
  const count = random.below(4)
  const given = Array.from({ length: count }, () => quote(argument())).join(' ')
  return `printf ${random.pick(['', '', '-- ', '-v out '])}${quote(format)} ${given}; echo "[$?]\${out-}"`
}

const texts = ['', 'a', 'a b', ' a  b ', 'a:b:c', 'x/y.z', '*', 'a\\b', 'AbC', "it's", 'é1', '-n', 'a=b', '1']

export function drawParameter(random: Random): string {
  const text = () => quote(random.pick(texts))
  const word = () =>
    random.pick(['w', '"w x"', 'w x', "'q'", '$v', '"$v"', '${v}', '', '\\*', '$((1+1))', '~', '"a  b"'])
  const set = `v=${text()} e= l=(${text()} ${text()} ${text()}); unset u; declare -A m=([k]=${text()} [j]=2); n=v; set -- ${text()} ${text()}`
  const name = () => random.pick(['v', 'u', 'e', '1', '3', 'l[1]', 'l[9]', 'm[k]', 'l[-1]'])
  const list = () => random.pick(['@', '*', 'l[@]', 'l[*]'])
  const before = random.chance(0.2) ? random.pick(['IFS=:; ', 'IFS=; ', "IFS=' :'; ", 'set -u; ', 'set -f; ']) : ''
  const isStrict = before === 'set -u; '
  const expansion = () => {
    switch (random.below(10)) {
      case 0:
      case 1:
        return `\${${name()}${random.pick(['-', ':-', '+', ':+', '=', ':='])}${word()}}`.replace(
          /\$\{([13])(:?=)/,
          '${v$2',
        )
      case 2:
        return `\${#${random.pick(['v', 'u', '@', 'l[@]', 'l[1]', '1', 'm[@]'])}}`
      case 3:
        return `\${${random.pick(['v', 'u', '1'])}:${random.pick(['0', '1', ' -2', '2', 'z+1'])}${random.pick(['', ':1', ':0', ': -1', ':3'])}}`
      case 4:
        return `\${${list()}:${random.pick(['1', '1', ' -1', '2'])}${random.pick(['', ':1', ':2'])}}`
      case 5:
        return `\${${list()}}`
      case 6:
        return `\${${random.pick(['v', '1', 'l[0]'])}${random.pick(['^', '^^', ',', ',,'])}}`
      case 7:
        return random.pick(['${!n}', isStrict ? '$v' : '${!l[@]}', '${m[k]}', '${v@U}', '${v@L}', '${v@u}'])
      case 8:
        return `\${${random.pick(['v', '1', 'l[@]', '@'])}${random.pick(['#', '##', '%', '%%'])}${random.pick(['*', 'a', '?', '*:', ' ', '[a-z]'])}}`
      default:
        return `$${random.pick(['v', '1', '#', '@', '*'])}`
    }
  }
  const one = () =>
    random.chance(0.6) ? `"${random.pick(['', 'p', ' '])}${expansion()}${random.pick(['', 's'])}"` : expansion()
  const words = Array.from({ length: 1 + random.below(2) }, one).join(' ')
  return `${set}; ${before}${random.chance(0.2) ? `x=${one()}; printf '<%s>' "$x"` : `printf '<%s>' ${words}`}; echo " \${v-} \${u-}"`
}

export function drawRead(random: Random): string {
  const input = random.many(0, 5, () =>
    random.pick(['a', 'b c', ' ', '  ', ':', '::', '\\', '\\n', '\\ x', 'é', '\t', '"', "'", '=', ',']),
  )
  const lines = [input, random.pick(['x y', ':', '', 'z'])].slice(0, 1 + random.below(2)).join('\n')
  const ifs = random.pick(['', '', '', 'IFS= ', 'IFS=: ', "IFS=' :' ", 'IFS=, ', "IFS=$'\\t' "])
  const options = random.pick(['', '-r ', '-r ', '-r ', '-r -n 3 ', '-r -d : ', '-ra l ', '-a l '])
  const names = options.includes('a l') ? '' : random.pick(['p', 'p q', 'p q o', ''])
  const shows = options.includes('a l')
    ? '"${l[@]}"'
    : names === ''
      ? '"$REPLY"'
      : names
          .split(' ')
          .map((name) => `"$${name}"`)
          .join(' ')
  const choice = random.below(4)
  const here = `<<'E'\n${lines}\nE`
  if (choice < 2) return `${ifs}read ${options}${names} ${here}\necho $?; printf '<%s>' ${shows}`
  if (choice < 3) return `while ${ifs}read ${options}${names}; do printf '<%s>' ${shows}; done ${here}`
  return `mapfile ${random.pick(['-t ', '', '-tn 1 ', '-ts 1 '])}l ${here}\nprintf '<%s>' "\${l[@]}" "\${#l[@]}"`
}

export function drawHereDocument(random: Random): string {
  const line = () =>
    random.many(0, 4, () =>
      random.pick([
        'a',
        ' ',
        '\t',
        '$v',
        '${v}',
        '"$v"',
        '\\$v',
        '\\\\',
        "'",
        '"',
        '`echo c`',
        '$(echo d)',
        '$((1+2))',
        '${u:-x}',
        '${v#a}',
        '\\"',
        '\\',
        '*',
        '${v/a/"b"}',
        '&',
        '\\a',
        '$ ',
      ]),
    )
  const body = Array.from({ length: random.below(4) }, line)
    .join('\n')
    .replace(/\\$/, '')
  const mark = random.pick(['E', "'E'", '"E"', '\\E'])
  const set = `v=${quote(random.pick(['a b', 'abc', '*', '"q"']))}; unset u`
  const choice = random.below(4)
  if (choice < 1) return `${set}; IFS= read -rd '' h <<-${mark}\n\t${body.replaceAll('\n', '\n\t\t')}\n\tE\necho "[$h]"`
  if (choice < 3) return `${set}; IFS= read -rd '' h <<${mark}\n${body}\nE\necho "[$h]"`
  return `${set}; IFS= read -rd '' h <<< ${random.pick(['$v', '"$v"', "'a  b'", 'a\\ b', '"$(echo x)"', '$v$v', '~', '{a,b}', '"${u-}"'])}; echo "[$h]"`
}

export function drawLoop(random: Random): string {
  const leave = () =>
    random.pick([
      '',
      '',
      '',
      '[ $i = 2 ] && break; ',
      '[ $i = 1 ] && continue; ',
      '[ $i = b ] && break 2; ',
      '((i == 2)) && continue 2; ',
    ])
  const body = (depth: number): string => {
    const choice = random.below(depth > 1 ? 2 : 5)
    if (choice < 1) return `${leave()}echo "$i"`
    if (choice < 2) return `${leave()}${random.pick(['false', 'true', '((n++))', ': $((n+=2))', 'echo -n $n'])}`
    return `${leave()}${loop(depth + 1)}`
  }
  const loop = (depth: number): string => {
    switch (random.below(6)) {
      case 0:
        return `for i in ${random.pick(['1 2 3', 'a b', '{1..3}', '$w', '"$w"', '"${l[@]}"', '', '"$@"'])}; do ${body(depth)}; done`
      case 1:
        return `for ((j${depth}=0; j${depth}<${random.pick(['3', 'k', '2+1'])}; j${depth}${random.pick(['++', '+=2'])})); do i=$j${depth}; ${body(depth)}; done`
      case 2:
        return `k${depth}=0; while ((k${depth}++ < 3)); do i=$k${depth}; ${body(depth)}; done`
      case 3:
        return `k${depth}=3; until ((--k${depth} < 0)); do i=$k${depth}; ${body(depth)}; done`
      case 4:
        return `if ${random.pick(['true', 'false', '[ "$n" = 0 ]', '((n))'])}; then ${body(depth)}; else ${body(depth + 1)}; fi`
      default:
        return `f${depth}() { ${body(depth)}; return ${random.pick(['0', '1', '$n', ''])}; }; f${depth}${random.pick(['', ' || echo r$?', ' && echo s'])}`
    }
  }
  return `n=0 k=2 i=0 w='x y' l=('a b' c); set -- p 'q r'; ${random.chance(0.15) ? 'set -e; ' : ''}${loop(0)}; echo "$? $n $i"`
}
