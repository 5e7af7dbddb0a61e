import type { parse } from 'just-bash'

import { checkSyntax } from './checked.ts'
import { numberRedirections } from './redirections.ts'
import { type Plugin, walk } from '../state/nodes.ts'

type Script = ReturnType<typeof parse>

const known = new WeakMap<object, Script>()
const inProcesses = new WeakSet<object>()

/** True if the script is the inner script of `<(…)`. */
export const isProcess = (script: object): boolean => inProcesses.has(script)

/** Refuses or rewrites forms that just-bash reads in another way than bash, also in nested scripts. */
export function prepared(script: Script): Script {
  const before = known.get(script)
  if (before !== undefined) return before
  numberRedirections(script)
  const ready = checkSyntax(script)
  walk(ready, (node) => {
    if ((node.type as string) === 'ProcessSubstitution') inProcesses.add((node as unknown as { body: object }).body)
    if ((node.type as string) === 'Script') known.set(node, node as unknown as Script)
  })
  known.set(ready, ready)
  known.set(script, ready)
  return ready
}

export const preparing: Plugin = { name: 'prepare', transform: ({ ast }) => ({ ast: prepared(ast) }) }
