import type { Interpreter, ShellState } from './interpreter.ts'
import { type Shell, shellOf } from './shell.ts'

export const attributes = ['integerVars', 'lowercaseVars', 'uppercaseVars'] as const
const ofLocals = [...attributes, 'readonlyVars'] as const

/** An outer variable shadowed by a function's local variable. */
export interface OuterVariable {
  /** The number of running functions when the local variable was declared. */
  readonly depth: number
  readonly name: string
  readonly attributes: readonly (typeof ofLocals)[number][]
  /** The depth of the function that owns the outer variable. */
  readonly owner: number | undefined
}

/** Declares local variables of a function. just-bash would reuse an outer list with its attributes, and ignore attributes after `local`. */
export function declareLocals(interpreter: Interpreter, builtin: string, given: readonly string[]): string {
  const { state } = interpreter.ctx
  const { localScopes: scopes } = state
  const scope = scopes.at(-1)
  if (scope === undefined || !/^(?:local|declare|typeset)$/.test(builtin)) return builtin
  if (given.some((word) => /^-[a-zA-Z]*[gfFp]/.test(word))) return builtin
  const lists = (state.localArrayScopes ??= [])
  while (lists.length < scopes.length) lists.push(new Map())
  for (const word of given) {
    const [name] = /^[A-Za-z_]\w*/.exec(word) ?? []
    const list = lists.at(-1)
    if (name === undefined || list === undefined || scope.has(name) || list.has(name)) continue
    list.set(name, state.arrays?.get(name))
    state.arrays?.delete(name)
    state.associativeArrays?.delete(name)
    if (state.tempEnvBindings?.some((bindings) => bindings.has(name)) !== true) {
      scope.set(name, state.env.get(name))
      state.env.delete(name)
    }
    const isGlobal = !scopes.slice(0, -1).some((outer) => outer.has(name))
    const attributes = ofLocals.filter((attribute) => state[attribute]?.has(name))
    shellOf(interpreter).outer.push({ depth: scopes.length, name, attributes, owner: state.localVarDepth?.get(name) })
    // bash refuses a local variable named like a global read-only variable.
    for (const attribute of attributes) if (attribute !== 'readonlyVars' || !isGlobal) state[attribute]?.delete(name)
  }
  return given.some((word) => /^-[a-zA-Z]*[Ailrux]/.test(word)) ? 'declare' : builtin
}

/** Restores attributes of outer variables after their functions have ended. */
export function leaveLocals({ outer }: Shell, state: ShellState): void {
  for (let last = outer.at(-1); last !== undefined && last.depth > state.localScopes.length; last = outer.at(-1)) {
    outer.pop()
    const { name, attributes, owner } = last
    for (const attribute of ofLocals) {
      if (attributes.includes(attribute)) state[attribute]?.add(name)
      else state[attribute]?.delete(name)
    }
    if (owner !== undefined) state.localVarDepth?.set(name, owner)
  }
}
