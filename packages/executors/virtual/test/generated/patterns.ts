import type { Random } from './random.ts'

const letters = ['a', 'b', 'c', 'A', 'B', '1', '2', '_', '-', '.', ',', '%', '#', '=', ':', 'é', '+', '@']
const special = ['*', '?', '[', ']', '!', '^', '\\', ' ', '(', ')', '|', '&', '$', '/', '{', '}']
const classNames = ['alpha', 'digit', 'upper', 'lower', 'space', 'punct', 'alnum', 'xdigit', 'odd']

const single = (text: string) => `'${text}'`

/** A text to be matched, without quotes. */
export function drawText(random: Random): string {
  return random.many(0, 7, () => (random.chance(0.75) ? random.pick(letters.slice(0, 12)) : random.pick(special)))
}

interface Context {
  /** Characters that must not stand without quotes. */
  readonly never?: string
  readonly extended?: boolean
}

function drawBracket(random: Random): string {
  const sign = random.chance(0.35) ? random.pick(['!', '^']) : ''
  const first = random.chance(0.1) ? ']' : ''
  const members = random.many(1, 3, () => {
    const choice = random.below(10)
    if (choice < 4) return random.pick(letters)
    if (choice < 6) return random.pick(['a-c', '0-9', 'A-Z', 'a-z', 'c-a', '+--'])
    if (choice < 8) return `[:${random.pick(classNames)}:]`
    if (choice < 9) return random.pick(["'*'", '"]"', "'-'", '\\]', '"!"', '\\\\', "'^'"])
    return random.pick(['-', '!', '^', '*', '?', '[', '[.a.]', '[=b=]'])
  })
  return `[${sign}${first}${members}${random.chance(0.92) ? ']' : ''}`
}

/** A pattern as it stands in a script. `$p` is another pattern, and `$q` a text. */
export function drawPattern(random: Random, context: Context = {}, depth = 0): string {
  const { never = '', extended = false } = context
  return random.many(depth === 0 ? 1 : 0, 4, () => {
    const choice = random.below(extended ? 20 : 17)
    if (choice < 5) {
      const letter = random.pick(letters)
      return never.includes(letter) ? 'a' : letter
    }
    if (choice < 8) return '*'
    if (choice < 9) return '?'
    if (choice < 11) return drawBracket(random)
    if (choice < 12) return `"${random.pick(['*', '?', 'a', '[', ']', ' ', '-', '|', '(', ''])}"`
    if (choice < 13) return single(random.pick([...special, 'a*', '[a]', '?b']))
    if (choice < 14) return `\\${random.pick(special)}`
    if (choice < 15) return '"$q"'
    if (choice < 17) return random.pick(['$p', '${p}', '"$p"', '${u:-a}', '${u:-"*"}', '"${q}"', "'a'*", '"a"?'])
    const inner = Array.from({ length: 1 + random.below(3) }, () => drawPattern(random, context, depth + 1))
    return depth > 1 ? 'a' : `${random.pick(['?', '*', '+', '@', '!'])}(${inner.join('|')})`
  })
}

function drawExpression(random: Random, depth = 0): string {
  return random.many(1, 3, () => {
    const choice = random.below(18)
    const repeat = random.chance(0.3) ? random.pick(['*', '+', '?', '{2}', '{1,2}']) : ''
    if (choice < 6) return random.pick(['a', 'b', 'c', '1', '-', '_', 'A']) + repeat
    if (choice < 8) return `.${repeat}`
    if (choice < 10)
      return `[${random.pick(['a-c', '^a', '[:alpha:]', '^[:digit:]_', 'ab.', '*a', '0-9', "'.'", '"$q"'])}]${repeat}`
    if (choice < 11) return random.pick(['^', 'a'])
    if (choice < 13) return `${random.pick(["'.'", '"*"', "'(a'", '"$q"', '"$p"', "'[a]'", '"|"'])}`
    if (choice < 14) return random.pick(['\\.', '\\*', '\\[', '\\(', '\\$', '\\\\'])
    if (choice < 15) return '${r}'
    return depth > 1
      ? 'a'
      : `(${drawExpression(random, depth + 1)}${random.chance(0.5) ? `|${drawExpression(random, depth + 1)}` : ''})${repeat}`
  })
}

function drawReplacement(random: Random): string {
  return random.many(0, 2, () => random.pick(['x', 'yy', '-', '"$q"', "'*'", '\\/', '"&"', '.', '"a b"', '$n']))
}

/** A place where a pattern stands, and what is found there. */
function drawPlace(random: Random): string {
  const choice = random.below(12)
  if (choice < 2)
    return `case $s in ${drawPattern(random)}) echo 1;; ${drawPattern(random)}|"$q") echo 2;; *) echo 3;; esac`
  if (choice < 4)
    return `[[ $s ${random.pick(['==', '=', '!='])} ${drawPattern(random, { extended: true })} ]]; echo $?`
  if (choice < 6)
    return `[[ $s =~ ${drawExpression(random)}${random.chance(0.3) ? '$' : ''} ]]; echo $? "\${BASH_REMATCH[@]/#/<}"`
  const at = random.chance(0.15) ? 'l[@]' : 's'
  if (choice < 9)
    return `printf '<%s>' "\${${at}${random.pick(['#', '##', '%', '%%'])}${drawPattern(random, { never: '#%' })}}"`
  const pattern = drawPattern(random, { never: '/' }).replace(/^[#%]/, 'a').replaceAll('/', 'b')
  return `printf '<%s>' "\${${at}${random.pick(['/', '//', '/#', '/%'])}${pattern}/${drawReplacement(random)}}"`
}

export function drawPatternCase(random: Random): string {
  const p = drawPattern(random).replaceAll(/['"$]|\\$/g, '')
  const r = random.pick(['a.b', '^a', 'a|b', '\\.', '[ab]+', '(a)(b)', 'b*', '\\w'])
  const s = drawText(random)
  const set = `s=${single(s)} p=${single(p)} q=${single(drawText(random).slice(0, 3))} r=${single(r)} n=${random.pick(['k', "'a b'", 'zz'])}`
  return `${set}; l=("$s" ${single(drawText(random))} a.b); unset u; ${drawPlace(random)}`
}
