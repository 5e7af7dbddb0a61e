import { Descent } from '../path/descent.ts'
import { baseName, isWithin, parentPath, rootPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { FileOperation } from '../contract/operations.ts'
import type { Gate } from './gate.ts'

// A hit shows names and content, so a search also needs the rights to list and to read.
const needed = {
  list: { toEnter: ['list'], toDescribe: ['stat'] },
  search: { toEnter: ['list', 'search'], toDescribe: ['search', 'read'] },
} as const

/** `hidden`: omitted. `named`: only name and type. `described`: also size, times, mode and version; for a search, also content. */
export type Visibility = 'hidden' | 'named' | 'described'

/** The visible part of one listing or search. Checks the policy for every directory on the path: a rule may deny a single directory. */
export class View {
  readonly #gate: Gate
  readonly #start: VirtualPath
  /** Operations that must be allowed to enter a directory, and to describe an entry. */
  readonly #needed: { readonly toEnter: readonly FileOperation[]; readonly toDescribe: readonly FileOperation[] }
  readonly #inScratch: boolean
  readonly #entered: Descent<boolean>
  /** Paths that mounts and rules name. Other entries have the rights of the start. */
  readonly #special: ReadonlySet<string>
  /** True if the store ignores case and may return a special path in another spelling. */
  readonly #folds: boolean
  readonly #judges: boolean
  readonly #mayVary: boolean
  /** True for a search. Unlike a listing, a search does not return a directory before its entries. */
  readonly #showsFilesOnly: boolean
  /** True if the store entered a directory that it should have skipped. */
  #shut = false

  constructor(gate: Gate, start: VirtualPath, operation: 'list' | 'search') {
    const { namespace, declared } = gate
    this.#gate = gate
    this.#start = start
    this.#needed = needed[operation]
    this.#entered = new Descent<boolean>(rootPath, true, (above, directory) => above && this.#mayEnter(directory))
    this.#showsFilesOnly = operation === 'search'
    const node = namespace.find(start)
    this.#inScratch = node.mount?.scratch === true
    this.#special = new Set([...namespace.below(start)].map(({ path }) => path))
    this.#folds = this.#special.size > 0 && node.mount?.caseSensitive === false
    this.#judges = gate.judgesEntriesBelow(start)
    // Determined once: below most directories there is no other spelling of a denied name.
    this.#mayVary = declared.variants.leadsOnFrom(start)
  }

  get plain(): boolean {
    return this.#special.size === 0 && !this.#judges && !this.#mayVary
  }

  visibility(path: VirtualPath): Visibility {
    if (!this.#concerns(path)) return 'described'
    const node = this.#gate.namespace.find(path)
    if (node.reserved || (node.mount?.scratch === true && !this.#inScratch)) return 'hidden'
    if (!this.#entered.at(parentPath(path))) return 'hidden' // @defence listing or searching into a denied part: neither enter nor describe
    if (this.#allows(this.#needed.toDescribe, path)) return 'described' // @defence `if (…)) ` listing or searching into a denied part: neither enter nor describe
    this.#shut = true
    return 'named'
  }

  #concerns(path: VirtualPath): boolean {
    if (this.#judges || this.#folds) return true
    // Skips the lookup in an empty set, which would hash each path.
    if (this.#special.size > 0 && this.#special.has(path)) return true
    if (!this.#mayVary) return false
    return this.#shut || this.#showsFilesOnly || this.#gate.declared.variants.couldEndIn(baseName(path))
  }

  #mayEnter(directory: VirtualPath): boolean {
    if (directory === this.#start || !isWithin(directory, this.#start)) return true
    return this.#allows(this.#needed.toEnter, directory)
  }

  #allows(operations: readonly FileOperation[], path: VirtualPath): boolean {
    return operations.every((operation) => this.#gate.decide({ operation, path, need: 'read' }).effect === 'allow')
  }
}
