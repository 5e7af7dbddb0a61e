import type { CheckedStep } from './checked.ts'
import { foldPath } from '../paths.ts'

interface Written {
  readonly step: CheckedStep
  readonly output: string
  readonly index: number
}

export interface Overlap {
  readonly first: Written
  readonly second: Written
}

export class Outputs {
  readonly #byPath = new Map<string, Written>()
  readonly overlaps: Overlap[] = []
  #sorted: readonly (readonly [path: string, written: Written])[] | undefined

  constructor(steps: readonly CheckedStep[]) {
    const all = steps.flatMap((step) => step.outputs.map((output, index): Written => ({ step, output, index })))
    // outer outputs first, so that each inner output finds its outer output
    for (const second of all.toSorted((a, b) => foldPath(a.output).length - foldPath(b.output).length)) {
      const folded = foldPath(second.output)
      const first = ancestorsOf(folded)
        .map((path) => this.#byPath.get(path))
        .find((found) => found !== undefined)
      if (first === undefined) this.#byPath.set(folded, second)
      else this.overlaps.push({ first, second })
    }
  }

  /** The steps that write an input inside the output: the whole input, a directory around the input, or parts of the input. */
  writersOf(input: string): CheckedStep[] {
    const folded = foldPath(input)
    const around = ancestorsOf(folded).flatMap((path) => this.#byPath.get(path)?.step ?? [])
    if (around.length > 0) return around
    return this.#below(folded)
  }

  /** Finds the writers below a directory by binary search: comparing each input with each output would take seconds. */
  #below(directory: string): CheckedStep[] {
    const sorted = (this.#sorted ??= [...this.#byPath].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const prefix = directory === '' ? '' : `${directory}/`
    let first = 0
    for (let end = sorted.length; first < end; ) {
      const middle = (first + end) >> 1
      if ((sorted[middle]?.[0] ?? '') < prefix) first = middle + 1
      else end = middle
    }
    const found: CheckedStep[] = []
    for (let index = first; sorted[index]?.[0].startsWith(prefix) === true; index += 1) {
      const step = sorted[index]?.[1].step
      if (step !== undefined) found.push(step)
    }
    return found
  }
}

function ancestorsOf(path: string): string[] {
  const paths = [path]
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) paths.push(path.slice(0, at))
  if (path !== '') paths.push('')
  return paths
}
