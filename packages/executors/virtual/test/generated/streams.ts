import type { Random } from './random.ts'

const joins = ['2>&1', '2>&1', '>&2', '1>&2', '3>&1 1>&2 2>&3', '2>/dev/null', '>/dev/null', '2>&1 >/dev/null', '', '']

function drawCommand(random: Random, depth: number): string {
  const leaf = () =>
    random.pick(['echo a', 'echo b >&2', 'echo c', 'echo d 1>&2', 'printf e', 'f', 'echo $((n+=1))', 'false'])
  if (depth === 0) return leaf()
  const inner = () => drawCommand(random, depth - 1)
  const body = () => random.many(1, 3, () => `${inner()}; `)
  const join = random.pick(joins)
  switch (random.below(11)) {
    case 0:
    case 1:
      return `{ ${body()}} ${join}`
    case 2:
      return `( ${body()}) ${join}`
    case 3:
      return `for i in 1 2; do ${body()}done ${join}`
    case 4:
      return `if ${inner()}; then ${body()}else ${body()}fi ${join}`
    case 5:
      return `{ ${body()}} |& while read -r l; do echo "<$l>"; done ${join}`
    case 6:
      return `{ x=$(${body()}) ${join}; echo "[$x]"; }`
    case 7:
      return `{ g() { ${body()}}; g; } ${join}`
    case 8:
      return `eval '${body().replaceAll("'", "'\\''")}' ${join}`
    case 9:
      return `${inner()} && ${inner()} || ${inner()}`
    default:
      return leaf()
  }
}

/** A case that writes to both outputs, which go to one place. */
export function drawStreams(random: Random): string {
  return `n=0; f() { echo in; echo err >&2; }; { ${random.many(1, 3, () => `${drawCommand(random, 3)}; `)}} 2>&1`
}
