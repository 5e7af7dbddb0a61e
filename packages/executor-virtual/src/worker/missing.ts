import { type Bash, type CustomCommand, defineCommand, getCommandNames } from 'just-bash'

import type { Session } from './session.ts'

type Plugin = Parameters<Bash['registerTransformPlugin']>[0]

/** The name of the command that stands for a program that is not there. */
const standIn = '__missing'

const builtins = new Set(
  ': . [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
)

interface Word {
  readonly parts?: { readonly type: string; value?: string }[]
}

/**
 * Marks programs that are not there, so that a script which runs one never ends with exit code 0. `command -v` and
 * `which` are not touched. A script that makes commands in ways of its own is left alone: bash's own 127 remains.
 */
export function markMissing(known: readonly string[]): Plugin {
  const names = new Set([...known, ...getCommandNames()])
  return {
    name: 'mark-missing',
    transform({ ast }) {
      const found: { name: Word; args: unknown[] }[] = []
      const defined = new Set<string>()
      let own = false
      walk(ast, (node) => {
        if (node['type'] === 'FunctionDef' && typeof node['name'] === 'string') defined.add(node['name'])
        if (node['type'] !== 'SimpleCommand') return
        const text = literal(node['name'])
        const assignments = node['assignments'] as readonly { readonly name?: unknown }[] | undefined
        if (assignments?.some(({ name }) => name === 'PATH') === true) own = true
        if (text === undefined) return
        if (['source', '.', 'eval', 'alias', 'export', 'declare'].includes(text))
          own ||= text !== 'export' && text !== 'declare'
        if (!text.includes('/') && !builtins.has(text) && !names.has(text))
          found.push(node as unknown as { name: Word; args: unknown[] })
      })
      if (own) return { ast }
      for (const node of found) {
        const text = literal(node.name) ?? ''
        if (defined.has(text)) continue
        node.args.unshift(node.name)
        node.name = { ...node.name, parts: [{ type: 'Literal', value: standIn }] }
      }
      return { ast }
    },
  }
}

export function missingCommand(session: Session): CustomCommand {
  return defineCommand(
    standIn,
    async ([name = '']) => {
      session.missing = true
      return { stdout: '', stderr: `bash: ${name}: command not found\n`, exitCode: 127 }
    },
    { trusted: false },
  )
}

function literal(word: unknown): string | undefined {
  const parts = (word as Word | null | undefined)?.parts
  const [part] = parts ?? []
  return parts?.length === 1 && part?.type === 'Literal' ? part.value : undefined
}

function walk(node: unknown, see: (node: Record<string, unknown>) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) walk(one, see)
    return
  }
  see(node as Record<string, unknown>)
  for (const child of Object.values(node)) walk(child, see)
}
