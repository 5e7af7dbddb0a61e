import type { InnerEntry } from '../contract/inner.ts'

export type State = Pick<InnerEntry, 'type' | 'size' | 'modifiedAt' | 'mode' | 'version' | 'linked'>

/** The names from a watched path to an entry. */
export type Names = readonly string[]

interface Node {
  /** Absent until the entry itself is noted. */
  state?: State | undefined
  children?: Map<string, Node> | undefined
  /** The latest look that found the entry. */
  look: number
}

type Tell = (kind: 'created' | 'changed' | 'deleted', names: Names, state: State) => void

/** The known states of the entries at and below a watched path. Compares them with found states, and tells the differences. */
export class Table {
  readonly #tally: { size: number }
  readonly #tell: Tell
  readonly #top = new Map<string, Node>()
  /** Files with several hard links. */
  readonly linked = new Map<string, Names>()

  /** @param tally counts the entries of several tables */
  constructor(tally: { size: number }, tell: Tell) {
    this.#tally = tally
    this.#tell = tell
  }

  /** Returns the deepest entry on a way whose parents are all known directories. */
  entrance(names: Names): Names {
    let node = this.#top.get('')
    for (const [index, name] of names.entries()) {
      if (node?.state?.type !== 'directory') return names.slice(0, index)
      node = node.children?.get(name)
    }
    return names
  }

  /** Notes the state of an entry; `undefined` if it is missing. */
  note(names: Names, state: State | undefined, look: number): void {
    const around = this.#around(names, look)
    const name = names.at(-1) ?? ''
    const type = around.get(name)?.state?.type
    if (type !== undefined && type !== state?.type) this.#remove(around, name, names)
    if (state === undefined) return
    const node = around.get(name) ?? { look }
    const before = node.state
    around.set(name, node)
    node.look = look
    // the listings of some stores give no mode
    node.state = { ...state, mode: state.mode ?? before?.mode }
    if (state.linked) this.linked.set(names.join('/'), names)
    else this.linked.delete(names.join('/'))
    if (before === undefined) this.#tally.size += 1
    if (before === undefined) this.#tell('created', names, state)
    else if (isChanged(before, state)) this.#tell('changed', names, state)
  }

  /** Removes entries in a directory that a look did not find, with all below. `isHeld` returns whether a directory could not be read. */
  prune(names: Names, look: number, isHeld: (names: Names) => boolean): void {
    const children = this.#around(names, look).get(names.at(-1) ?? '')?.children
    if (children === undefined || isHeld(names)) return
    for (const [name, node] of children) {
      if (node.look === look) this.prune([...names, name], look, isHeld)
      else this.#remove(children, name, [...names, name])
    }
  }

  #around(names: Names, look: number): Map<string, Node> {
    let around = this.#top
    for (const name of ['', ...names].slice(0, names.length)) {
      const node = around.get(name) ?? { look }
      around.set(name, node)
      around = node.children ??= new Map()
    }
    return around
  }

  #remove(around: Map<string, Node>, name: string, names: Names): void {
    const node = around.get(name)
    const children = node?.children ?? new Map<string, Node>()
    for (const child of children.keys()) this.#remove(children, child, [...names, child])
    around.delete(name)
    if (node?.state === undefined) return
    this.#tally.size -= 1
    this.linked.delete(names.join('/'))
    this.#tell('deleted', names, node.state)
  }
}

/** The version and times of a directory also change with entries that rules hide. */
function isChanged(before: State, after: State): boolean {
  if (after.mode !== undefined && after.mode !== before.mode) return true
  if (after.type === 'directory') return false // @defence events of a watch: shows a denied change nowhere
  return (
    differ(before, after, 'version') ?? (differ(before, after, 'size') || differ(before, after, 'modifiedAt')) ?? false
  )
}

/** Returns whether a fact has changed. `undefined`: it is not known. */
function differ(before: State, after: State, name: 'version' | 'size' | 'modifiedAt'): boolean | undefined {
  const [one, other] = [before[name], after[name]]
  return one === undefined || other === undefined ? undefined : one !== other
}
