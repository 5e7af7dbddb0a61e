import { type CustomCommand, defineCommand } from 'just-bash'

import type { Session } from '../session.ts'
import { findDirectories, namesDirectories } from './directories.ts'
import { decodeWhatIsRead } from './reading.ts'
import { literal, literalWord, type Node, type Plugin, setLiteral, type SimpleCommand, walk } from './nodes.ts'

const standIn = '__refused'

/** Builtins that just-bash lacks, or takes without doing what they say. */
const refusedBuiltins: Readonly<Record<string, string>> = {
  trap: 'nothing is sent to a script, and nothing runs at its end',
  ulimit: 'limits are those of the executor',
  umask: 'modes of files cannot be chosen here',
  jobs: 'there are no jobs here',
  fg: 'there are no jobs here',
  bg: 'there are no jobs here',
  disown: 'there are no jobs here',
  kill: 'there are no processes here',
  times: 'there are no processes here',
  coproc: 'there are no processes here',
  suspend: 'there are no processes here',
}

/** Rewrites what just-bash reads differently from bash, or makes it a refusal where that is not possible. */
export const checkedSyntax: Plugin = {
  name: 'checked-syntax',
  transform({ ast }) {
    const nodes: Node[] = []
    walk(ast, (node) => nodes.push(node))
    nodes.forEach(check)
    return { ast }
  },
}

function check(node: Node): void {
  if (node.type === 'For' && node.words?.some(namesDirectories) === true) findDirectories(node)
  if (node.type !== 'SimpleCommand') return
  const name = literal(node.name)
  const reason = name === undefined ? undefined : refusedBuiltins[name]
  if (name !== undefined && reason !== undefined) refuse(node, name, reason)
  else if (node.assignments?.some(({ array }) => array?.some(namesDirectories) === true) === true)
    refuse(node, '*/', 'in an array; use `find -type d`')
  else if (name === 'read' || name === 'mapfile' || name === 'readarray') {
    if (!decodeWhatIsRead(node)) refuse(node, name, 'into a variable that is named by another one')
  } else if (node.args.some(namesDirectories)) findDirectories(node)
}

function refuse(node: SimpleCommand, subject: string, reason: string): void {
  node.args = [literalWord(subject), literalWord(reason)]
  node.name = null
  setLiteral(node, standIn)
}

export function refusedCommand(session: Session): CustomCommand {
  return defineCommand(standIn, async ([subject = '', reason = '']) => session.refuse(subject, reason), {
    trusted: false,
  })
}
