import type { Interpreter } from '../state/interpreter.ts'
import { sessionOf } from '../state/shell.ts'

export class Variables {
  readonly #interpreter: Interpreter

  constructor(interpreter: Interpreter) {
    this.#interpreter = interpreter
  }

  get #state() {
    return this.#interpreter.ctx.state
  }

  /** Resolves a name that `declare -n` has made a reference. */
  #named(name: string): string {
    const { namerefs, env } = this.#state
    return namerefs?.has(name) === true ? (env.get(name) ?? name) : name
  }

  isMap(name: string): boolean {
    return this.#state.associativeArrays?.has(this.#named(name)) === true
  }

  /** The key of an index. An index before the first element gets a key that no element has. */
  place(given: string, index: bigint): string {
    const elements = this.#state.arrays?.get(this.#named(given))?.elements
    const end = elements === undefined ? 0 : Math.max(-1, ...[...elements.keys()].map(Number)) + 1
    const place = index < 0n ? index + BigInt(end) : index
    if (place >= 0n) return String(place)
    this.#state.expansionStderr = `${this.#state.expansionStderr ?? ''}bash: ${given}: bad array subscript\n`
    return ''
  }

  /** Converts a variable with one value to a list. just-bash would keep both the list and the value. */
  asList(given: string): void {
    const name = this.#named(given)
    const { env, exportedVars } = this.#state
    const value = env.get(name)
    if (value === undefined || this.#state.arrays?.has(name) === true) return
    if (exportedVars?.has(name) === true)
      sessionOf(this.#interpreter).refuse(`${name}[…]`, 'the variable is exported, so it cannot be a list')
    env.delete(name)
    this.#state.arrays ??= new Map()
    this.#state.arrays.set(name, { kind: 'indexed', elements: new Map([['0', value]]) })
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
    if (key === '') return
    if (key !== undefined) this.asList(given)
    const array = arrays?.get(name)
    if (array !== undefined) array.elements.set(key ?? '0', value)
    else if (key === undefined) env.set(name, value)
    else arrays?.set(name, { kind: 'indexed', elements: new Map([[key, value]]) })
  }

  count(list: string): number {
    const name = this.#named(list)
    return this.#state.arrays?.get(name)?.elements.size ?? (this.#state.env.has(name) ? 1 : 0)
  }

  get lastStatus(): string {
    return String(this.#state.lastExitCode)
  }
}

function special(name: string): string | undefined {
  return name === 'RANDOM' ? String(Math.floor(Math.random() * 32768)) : undefined
}
