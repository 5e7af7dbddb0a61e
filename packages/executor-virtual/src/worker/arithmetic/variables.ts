import type { Interpreter } from '../interpreter/interpreter.ts'
import { sessionOf } from '../interpreter/shell.ts'

/** The variables of a script, as arithmetic reads and sets them. */
export class Variables {
  readonly #interpreter: Interpreter

  constructor(interpreter: Interpreter) {
    this.#interpreter = interpreter
  }

  get #state() {
    return this.#interpreter.ctx.state
  }

  /** The name that `declare -n` gave to another variable. */
  #named(name: string): string {
    const { namerefs, env } = this.#state
    return namerefs?.has(name) === true ? (env.get(name) ?? name) : name
  }

  isMap(name: string): boolean {
    return this.#state.associativeArrays?.has(this.#named(name)) === true
  }

  /** One more than the last index. */
  end(name: string): number {
    const elements = this.#state.arrays?.get(this.#named(name))?.elements
    return elements === undefined ? 0 : Math.max(-1, ...[...elements.keys()].map(Number)) + 1
  }

  has(given: string): boolean {
    const name = this.#named(given)
    return this.#state.env.has(name) || this.#state.arrays?.get(name)?.elements.has('0') === true
  }

  get(given: string, key?: string): string {
    const name = this.#named(given)
    const { env, arrays } = this.#state
    const elements = arrays?.get(name)?.elements
    if (key !== undefined && elements === undefined) return key === '0' ? (env.get(name) ?? '') : ''
    const value = elements === undefined ? (env.get(name) ?? special(name)) : elements.get(key ?? '0')
    if (value === undefined && this.#state.options.nounset && key === undefined)
      sessionOf(this.#interpreter).refuse(`$((${name}))`, 'the variable has no value, and `set -u` is on')
    return value ?? ''
  }

  set(given: string, key: string | undefined, value: string): void {
    const name = this.#named(given)
    const { env, arrays, readonlyVars } = this.#state
    if (readonlyVars?.has(name) === true) sessionOf(this.#interpreter).refuse(`${name}=`, 'the variable is read-only')
    const array = arrays?.get(name)
    if (array !== undefined) array.elements.set(key ?? '0', value)
    else if (key === undefined) env.set(name, value)
    else
      arrays?.set(name, {
        kind: 'indexed',
        elements: new Map([...(env.has(name) ? ([['0', env.get(name) ?? '']] as const) : []), [key, value]]),
      })
  }

  /** A text of arithmetic with the values of `$x`, `${x}`, `${#x}` and the like in it. */
  expand(text: string): string {
    return text.replace(
      simple,
      (_, plain: string | undefined, braced: string | undefined, list?: string, length?: string) => {
        if (list !== undefined) return String(this.#count(list))
        if (length !== undefined) return String([...this.get(length)].length)
        const name = plain ?? braced ?? ''
        return name === '?' ? String(this.#state.lastExitCode) : this.get(name)
      },
    )
  }

  #count(list: string): number {
    const name = this.#named(list)
    return this.#state.arrays?.get(name)?.elements.size ?? (this.#state.env.has(name) ? 1 : 0)
  }
}

/** Expansions whose values are known without running anything. */
const simple = /\$(?:([A-Za-z_]\w*|[0-9#?])|\{([A-Za-z_]\w*|\d+)\}|\{#([A-Za-z_]\w*)\[[@*]\]\}|\{#([A-Za-z_]\w*)\})/g

/** True where a text needs the shell before arithmetic: for `$(…)`, `${x:-1}` and quotes. */
export function needsShell(text: string): boolean {
  return /[$`"'\\]/.test(text.replace(simple, ''))
}

function special(name: string): string | undefined {
  return name === 'RANDOM' ? String(Math.floor(Math.random() * 32768)) : undefined
}
