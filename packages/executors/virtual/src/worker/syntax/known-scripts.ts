import type { parse } from 'just-bash'

import { walk } from '../state/nodes.ts'

type Script = ReturnType<typeof parse>

/** The prepared form of each known script. */
export const known = new WeakMap<object, Script>()
const inProcesses = new WeakSet<object>()

/** True if the script is the inner script of `<(…)`. */
export const isProcess = (script: object): boolean => inProcesses.has(script)

/** Notes that the inner scripts of a node are prepared. */
export function noteScripts(prepared: object): void {
  walk(prepared, (node) => {
    if ((node.type as string) === 'ProcessSubstitution') inProcesses.add((node as unknown as { body: object }).body)
    if ((node.type as string) === 'Script') known.set(node, node as unknown as Script)
  })
}
