import { type CustomCommand, defineCommand, getCommandNames } from 'just-bash'

import type { Session } from '../session.ts'
import { literal, type Node, type Plugin, setLiteral, type SimpleCommand, walk } from './nodes.ts'

/** The name of the command that stands for a program that is not there. */
const standIn = '__missing'

const builtins = new Set(
  ': . [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
)

/**
 * Marks programs that are not there, so that a script which runs one never ends with exit code 0. `command -v` and
 * `which` are not touched. A script that makes commands in ways of its own is left alone: bash's own 127 remains.
 */
export function markMissing(known: readonly string[]): Plugin {
  const names = new Set([...known, ...getCommandNames()])
  return {
    name: 'mark-missing',
    transform({ ast }) {
      const found: SimpleCommand[] = []
      const defined = new Set<string>()
      let own = false
      walk(ast, (node: Node) => {
        if (node.type === 'FunctionDef') defined.add(node.name)
        if (node.type !== 'SimpleCommand') return
        if (node.assignments?.some(({ name }) => name === 'PATH') === true) own = true
        const name = literal(node.name)
        if (name === undefined) return
        if (['source', '.', 'eval', 'alias'].includes(name)) own = true
        if (!name.includes('/') && !name.startsWith('__') && !builtins.has(name) && !names.has(name)) found.push(node)
      })
      if (own) return { ast }
      for (const node of found) if (!defined.has(literal(node.name) ?? '')) setLiteral(node, standIn)
      return { ast }
    },
  }
}

export function missingCommand(session: Session): CustomCommand {
  return defineCommand(
    standIn,
    async ([name = '']) => {
      session.missing ??= name
      return { stdout: '', stderr: `bash: ${name}: command not found\n`, exitCode: 127 }
    },
    { trusted: false },
  )
}
