import { createHash } from 'node:crypto'

import { errorCodes, type ErrorCode } from '@ws/core'
import { createGlobFilter, operations, type AdapterOperation, type Call } from '@ws/core/adapter'
import { checkOption, option, type OptionShapes } from '@ws/core/options'

export interface FaultSelection {
  /** Operations of the adapter; a workspace reads by `read` or `readStream`. Default: every operation. */
  readonly operation?: AdapterOperation | readonly AdapterOperation[] | undefined
  /** A glob for the path or the destination: `/notes/**`, `*.md`. Default: every path. */
  readonly path?: string | undefined
  /** Matching calls that pass first. Default 0. */
  readonly skip?: number | undefined
  /** The number of calls that fail. Default: all. */
  readonly times?: number | undefined
  /** The fraction of matching calls that fail, above 0 to 1. Default 1. */
  readonly chance?: number | undefined
  /** For `chance`: the same seed selects the same calls. Default 1. */
  readonly seed?: number | undefined
}

/**
 * A fault:
 * - `error`: the call does nothing and rejects with `code`; default `EBACKEND`.
 * - `delay`: the call waits these milliseconds first, or until its signal aborts.
 * - `torn`: a stream or listing fails after this many bytes or entries, at the latest at its end. Reads and writes in one piece fail.
 * - `lost`: the operation is carried out, but the call rejects.
 */
export type Fault = FaultSelection &
  (
    | { readonly kind: 'error'; readonly code?: ErrorCode | undefined }
    | { readonly kind: 'delay'; readonly duration: number }
    | { readonly kind: 'torn'; readonly after: number }
    | { readonly kind: 'lost' }
  )

export interface MetFault {
  readonly kind: Fault['kind']
  readonly operation: AdapterOperation
  readonly path: string
}

const tearable: ReadonlySet<AdapterOperation> = new Set(['read', 'readStream', 'write', 'list', 'search'])
const untouched: ReadonlySet<string> = new Set(['close', 'hostPath'])
const names = Object.keys(operations).filter((name) => !untouched.has(name))
const name = option.oneOf(...names)

const selection: OptionShapes<FaultSelection> = {
  operation: option.of(
    `one or several of the operations ${names.join(', ')}`,
    (value) => name.accepts(value) || (Array.isArray(value) && value.length > 0 && value.every(name.accepts)),
  ),
  path: option.text,
  skip: option.integer(0),
  times: option.integer(1),
  chance: option.of('a number above 0 to 1', (value) => typeof value === 'number' && value > 0 && value <= 1),
  seed: option.integer(0),
}
const kind = option.required(option.oneOf('error', 'delay', 'torn', 'lost'))
const own = {
  error: { code: option.oneOf(...errorCodes) },
  delay: { duration: option.required(option.duration) },
  torn: { after: option.required(option.integer(0)) },
  lost: {},
} as const satisfies Readonly<Record<Fault['kind'], OptionShapes>>

export function checkFaults(operation: string, faults: unknown): asserts faults is readonly Fault[] {
  checkOption(operation, 'faults', faults, option.list(option.object, 'a list of faults'))
  for (const [index, fault] of (faults as readonly Fault[]).entries()) {
    const place = `faults[${index}]`
    checkOption(operation, `${place}.kind`, fault.kind, kind)
    checkOption(operation, place, fault, option.options<object>({ ...selection, kind, ...own[fault.kind] }))
  }
}

interface State {
  readonly fault: Fault
  readonly matches: (call: Call) => boolean
  seen: number
  met: number
}

export class FaultPlan {
  readonly #states: State[]

  constructor(faults: readonly Fault[]) {
    this.#states = faults.map((fault) => ({ fault, matches: matcherOf(fault), seen: 0, met: 0 }))
  }

  draw(call: Call): Fault | undefined {
    for (const state of this.#states) {
      if (!state.matches(call)) continue
      const { skip = 0, times = Infinity, chance = 1, seed = 1 } = state.fault
      state.seen += 1
      if (state.seen <= skip || state.met >= times) continue
      if (chance < 1 && randomOf(seed, state.seen) >= chance) continue
      state.met += 1
      return state.fault
    }
    return undefined
  }
}

function matcherOf({ kind: what, operation, path }: Fault): State['matches'] {
  const named = operation === undefined ? undefined : new Set([operation].flat())
  const filter = path === undefined ? undefined : createGlobFilter([path])
  return (call) => {
    if (named !== undefined && !named.has(call.operation)) return false
    if (what === 'torn' && !tearable.has(call.operation)) return false
    if (filter === undefined) return true
    return [call.path, call.destination].some((one) => one !== undefined && filter.matches(one.slice(1)))
  }
}

/** A number from 0 to below 1. Depends only on the seed and the number of the call, so other calls do not change the result. */
function randomOf(seed: number, call: number): number {
  return createHash('sha256').update(`${seed}/${call}`).digest().readUInt32BE() / 2 ** 32
}
