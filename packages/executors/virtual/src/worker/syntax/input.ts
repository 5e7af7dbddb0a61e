import { parse } from '#just-bash'

import { literal, type Node, walk } from '../state/nodes.ts'

/** Commands that never read standard input. */
const deaf = new Set(
  ': [ basename break cd chmod continue cp date declare dirname echo exit export expr false find let ln local ls mkdir mktemp mv printenv printf pwd readlink realpath return rm rmdir seq set shift shopt sleep stat test touch true type typeset unset which whoami'.split(
    ' ',
  ),
)

/** False only if no command of the script can read standard input. */
export function readsInput(script: string): boolean {
  let reads = false
  try {
    walk(parse(script), (node: Node) => {
      if (node.type !== 'SimpleCommand' || node.name === null) return
      const name = literal(node.name)
      if (name === undefined || !deaf.has(name)) reads = true
    })
  } catch {
    // A script that cannot be parsed is refused without input.
    return false
  }
  return reads
}
