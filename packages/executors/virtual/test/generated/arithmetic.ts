import { quote } from './shell.ts'
import type { Random } from './random.ts'

function drawNumber(random: Random): string {
  return random.pick([
    '0',
    '1',
    '2',
    '3',
    '7',
    '10',
    '15',
    '-1',
    '-2',
    '07',
    '0x1f',
    '2#101',
    '36#z',
    '100',
    '12345',
    '08',
    '1/0',
  ])
}

function drawExpression(random: Random, depth = 0): string {
  const choice = random.below(depth > 2 ? 8 : 20)
  const inner = () => drawExpression(random, depth + 1)
  if (choice < 3) return drawNumber(random)
  if (choice < 5) return random.pick(['x', 'y', 'z', 'unset', 'a[1]', 'a[x]'])
  if (choice < 8)
    return random.pick([
      '$x',
      '${x}',
      '$y',
      '${y}',
      '$e',
      '${e}',
      '$1',
      '${2}',
      '$#',
      '${#t}',
      '${a[0]}',
      '${u:-2}',
      '$(echo 3)',
      '$(echo "1 + 2")',
      '`echo 2`',
      '$((x + 1))',
      '$((x++))',
      '$((1 - $((y))))',
      '${a[x % 2]}',
    ])
  if (choice < 16) {
    const operator = random.pick([
      '+',
      '-',
      '*',
      '/',
      '%',
      '**',
      '<',
      '<=',
      '>',
      '>=',
      '==',
      '!=',
      '&&',
      '||',
      '&',
      '|',
      '^',
      '<<',
      '>>',
      ',',
    ])
    const blank = random.pick(['', ' '])
    return `${inner()}${blank}${operator}${blank}${operator === '**' || operator === '<<' || operator === '>>' ? random.pick(['2', '1', '3', 'z']) : inner()}`
  }
  if (choice < 17) return `(${inner()})`
  if (choice < 18) return `${random.pick(['-', '+', '!', '~'])}${inner()}`
  if (choice < 19) return `${inner()} ? ${inner()} : ${inner()}`
  return random.pick([
    'x++',
    '++x',
    'y--',
    '--y',
    'x += 2',
    'y = 5',
    'x *= 3',
    'y -= 1',
    'a[0] += 1',
    'x = y = 4',
    'y <<= 1',
    'x |= 6',
  ])
}

/** Places of an expression besides `$((…))`. */
const places = [
  '[[ _ -eq 2 ]]; echo $?',
  '[[ x -lt $((_)) || -n $y ]] && echo yes',
  'echo "${a[_]}"',
  'a[_]=9; echo "${!a[@]}"',
  "unset 'a[_]'; echo ${#a[@]}",
  '[[ -v a[_] ]]; echo $?',
  'declare -i n="_"; n+="z + 1"; echo $n',
  'for ((i = 0; i < 2; i += (_))); do ((n++ > 3)) && break; echo $i; done; echo $?',
  'read -r r <<< $((_)); echo $? $r',
  '(echo $((_)); echo in); echo $?',
  'r=$(echo $((_)); echo in); echo $? "$r"',
]

export function drawArithmetic(random: Random): string {
  const set = `x=${random.pick(['3', '-2', '0', '8', '010'])} y=${random.pick(['5', '-7', '1', 'x'])} z=2 e=${quote(random.pick(['1 + 2', '-3', 'x+1', '2*y', '']))} t=abc; a=(4 6); set -- ${random.pick(['2', '1+1', '-1'])} 9; unset u unset`
  const expression = drawExpression(random)
  const use = random.below(8)
  const show = 'echo " $x $y ${a[0]}"'
  if (use < 3) return `${set}; echo $((${expression})); ${show}`
  if (use < 4) return `${set}; ((${expression})); echo $?; ${show}`
  if (use < 4.5 && random.chance(0.4)) return `${set}; let "${expression.replaceAll('"', '')}"; echo $?; ${show}`
  if (use < 5) return `${set}; s=abcdefgh; echo "\${s:$((${expression})):2}"; ${show}`
  const place = random.pick(places)
  // just-bash drops blanks in `for ((`, and cannot read some words in brackets.
  const isOdd = /for/.test(place)
    ? /- \$/.test(expression)
    : /-v a|a\[_\]=/.test(place) && /[\s&|()<>~[\]]/.test(expression)
  if (isOdd) return `${set}; echo "\${a[$((${expression}))]}"; ${show}`
  return `${set}; ${place.replaceAll('_', expression.replaceAll('"', ''))}; ${show}\necho next`
}

/** A function with variables of its own, beside others of the same names. */
export function drawDeclaration(random: Random): string {
  const outside = random.pick([
    ':',
    'm=5',
    'm=(1 2 3)',
    'declare -A m=([q]=1)',
    'declare -i m=4',
    'declare -u m=ab',
    'm=',
  ])
  const builtin = random.pick([
    'local',
    'local',
    'declare',
    'typeset',
    'local -a',
    'local -A',
    'declare -A',
    'local -i',
    'declare -u',
    'local -l',
  ])
  const value = builtin.includes('A')
    ? random.pick(['', '=([q]=7)', ''])
    : random.pick(['', '=1+1', '=Ab', '="$1"', builtin.includes('i') ? '=2' : '=(4 5)'])
  const change = () =>
    random.pick(['m[1]=Xy', 'm=7', 'm+=2', 'm=1+1', 'm[q]=z', 'unset m', ': $((m++))', 'm[1]+=w', 'g', 'm=Cd'])
  const show = 'printf \'<%s>\' "${m-}" "${m[1]-}" "${m[q]-}" "${#m[@]}"'
  const changes = Array.from({ length: random.below(4) }, () => `${change()}; `).join('')
  const again = random.chance(0.3) ? '[ "$1" = 0 ] || f 0; ' : ''
  return `${outside}; g() { ${random.pick(['m=3', 'm[1]=g', 'local m=1; m+=1', ':'])}; }; f() { ${builtin} m${value}; ${changes}${again}${show}; }; f Q; ${random.pick(['', 'f 1; ', 'm=2+3; ', 'm+=1; '])}${show}`
}
