import type { parse } from 'just-bash'

import { checkSyntax } from './checked.ts'
import { numberRedirections } from './redirections.ts'
import type { Plugin } from '../state/nodes.ts'
import { known, noteScripts } from './known-scripts.ts'

type Script = ReturnType<typeof parse>

/** Refuses or rewrites forms that just-bash reads in another way than bash, also in nested scripts. */
export function prepared(script: Script): Script {
  const before = known.get(script)
  if (before !== undefined) return before
  numberRedirections(script)
  const ready = checkSyntax(script)
  noteScripts(ready)
  known.set(ready, ready)
  known.set(script, ready)
  return ready
}

export const preparing: Plugin = { name: 'prepare', transform: ({ ast }) => ({ ast: prepared(ast) }) }
