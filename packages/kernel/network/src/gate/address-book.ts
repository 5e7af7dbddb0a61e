import type { hostLists } from '@ws/core/executor'

/** The network of stand-in addresses. It is reserved for tests of devices (RFC 2544), so no host has such an address. */
export const gateNetwork = { base: [198, 18] as const, bits: 15 } as const
/** The address of the gate's name server. */
export const nameServer = '198.18.0.1'
/** Limit of names that match wildcards, for one command. */
const mostNames = 4096

/** Gives each listed name its own stand-in address. The address of a connection identifies the name. */
export class AddressBook {
  readonly #list: hostLists.List
  readonly #numbers = new Map<string, number>()
  readonly #names: string[] = []

  constructor(list: hostLists.List) {
    this.#list = list
    for (const { name, isWildcard } of list.entries) if (!isWildcard) this.#give(name)
  }

  /** The four bytes of a name's address; `undefined` for an unlisted name, or beyond `mostNames` names. */
  addressOf(name: string): readonly number[] | undefined {
    const known = this.#numbers.get(name)
    if (known !== undefined) return place(known)
    if (this.#names.length >= mostNames || !this.#list.knows(name)) return undefined // @defence ` || !this.#list.knows(name)` DNS as a channel: end inside
    return place(this.#give(name))
  }

  nameOf(address: string): string | undefined {
    const [first, second, third = 0, fourth = 0] = address.split('.').map(Number)
    if (first !== gateNetwork.base[0] || second !== gateNetwork.base[1]) return undefined
    return this.#names[third * 256 + fourth - firstNumber]
  }

  #give(name: string): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const number = this.#names.push(name) - 1 + firstNumber
    this.#numbers.set(name, number)
    return number
  }
}

/** The first number belongs to the name server. */
const firstNumber = 2

function place(number: number): readonly number[] {
  return [...gateNetwork.base, number >> 8, number & 0xff]
}
