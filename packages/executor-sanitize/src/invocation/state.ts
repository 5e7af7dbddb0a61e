/** The known values of a variable. */
export type Variable =
  /** All texts it can have, as they would be in a view. `host`: the shell holds them as paths of this machine. */
  | { readonly kind: 'texts'; readonly texts: readonly string[]; readonly host: boolean }
  /** Digits only. */
  | { readonly kind: 'number' }
  | { readonly kind: 'opaque'; readonly tainted: boolean }

/** The state at a point of the script. Never changed: each step gives a new one. */
export interface State {
  /** Directories it can be in; `any`: some directory of the workspace. */
  readonly cwd: ReadonlySet<string> | 'any'
  readonly variables: ReadonlyMap<string, Variable>
  /** It came here by a name that may have become a link before: the directory above is not known. */
  readonly linked: boolean
}

export const mostTexts = 64

export function withVariable(state: State, name: string, variable: Variable): State {
  return { ...state, variables: new Map([...state.variables, [name, variable]]) }
}

/** Two ways that lead to the same point; `undefined` is one that leads nowhere (`exit`). */
export function join(left: State | undefined, right: State | undefined): State | undefined {
  if (left === undefined || left === right) return right
  if (right === undefined) return left
  const variables = new Map<string, Variable>()
  for (const name of new Set([...left.variables.keys(), ...right.variables.keys()])) {
    variables.set(name, joinVariables(left.variables.get(name), right.variables.get(name)))
  }
  const cwd = left.cwd === 'any' || right.cwd === 'any' ? 'any' : new Set([...left.cwd, ...right.cwd])
  return { cwd, variables, linked: left.linked || right.linked }
}

const unset: Variable = { kind: 'texts', texts: [''], host: false }

function joinVariables(left: Variable = unset, right: Variable = unset): Variable {
  if (isNumber(left) && isNumber(right) && (left.kind === 'number' || right.kind === 'number'))
    return { kind: 'number' }
  if (left.kind === 'texts' && right.kind === 'texts' && left.host === right.host) {
    const texts = [...new Set([...left.texts, ...right.texts])]
    if (texts.length <= mostTexts) return { kind: 'texts', texts, host: left.host }
  }
  return { kind: 'opaque', tainted: isTainted(left) || isTainted(right) }
}

export function isTainted(variable: Variable): boolean {
  return variable.kind === 'texts' ? variable.host : variable.kind === 'opaque' && variable.tainted
}

/** True for what is digits in any case. */
export function isNumber(variable: Variable): boolean {
  return variable.kind === 'number' || (variable.kind === 'texts' && variable.texts.every((text) => /^\d+$/.test(text)))
}

/** Where a script could have changed anything: nothing is known of variables, nor of the directory. */
export function forget(state: State, names?: Iterable<string>): State {
  const variables = new Map(state.variables)
  for (const name of names ?? state.variables.keys()) variables.set(name, { kind: 'opaque', tainted: true })
  return { ...state, variables }
}

const numbers = /^(?:[#?$!]|RANDOM|SECONDS|LINENO|UID|EUID|PPID|SHLVL|BASHPID|EPOCHSECONDS|SRANDOM|OPTIND)$/
const setByShell =
  /^(?:HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|IFS|PIPESTATUS|FUNCNAME|GROUPS|OPTARG|-|PS[0-4]|TERM|LANG|LC_.*|TZ|COLUMNS|LINES)$/
/** The shell puts words of the command, or where it is, into these. */
const tellsPlaces = /^(?:BASH.*|DIRSTACK|REPLY|_|COMP_.*|COPROC|MAPFILE)$/

/** The known values of a variable, without looking at an operation on it. */
export function lookUp(name: string, state: State): Variable {
  const known = state.variables.get(name)
  if (known !== undefined) return known
  if (numbers.test(name)) return { kind: 'number' }
  if (tellsPlaces.test(name)) return { kind: 'opaque', tainted: true }
  if (/^(?:\d+|[@*])$/.test(name) || setByShell.test(name)) return { kind: 'opaque', tainted: false }
  return { kind: 'texts', texts: [''], host: false }
}

/** Numbers and variables that are numbers. Any other text would be read as code: `a[$(command)]` runs its command. */
export function isArithmetic(text: string, state: State): boolean {
  const isDigits = (name: string) => {
    const variable = lookUp(name, state)
    return isNumber(variable) || (variable.kind === 'texts' && variable.texts.every((own) => own === ''))
  }
  if (/[`'"\\[(]|\$\{(?![A-Za-z_]\w*\})/.test(text)) return false
  return (text.match(/(?<![\w#])[A-Za-z_]\w*|\$[^\w{#?$]|(?<=\$)\d/g) ?? []).every(isDigits)
}
