import { selfOf } from '../root.ts'

export interface Place {
  readonly parent: number
  readonly name: string
}

export function pathOf({ parent, name }: Place): string {
  return `${selfOf(parent)}/${name}`
}

/** An entry differs from its expected state, so the restore does not change it. */
export class Unexpected extends Error {
  readonly reason: string

  constructor(reason = 'it was changed meanwhile') {
    super(reason)
    this.reason = reason
  }
}
