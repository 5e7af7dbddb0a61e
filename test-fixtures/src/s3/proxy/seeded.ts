import { seededRandom } from '../../random.ts'
import type { Fault, FaultPlan } from './faults.ts'
import type { ProxiedRequest } from './request.ts'

export interface SeededFaultsOptions {
  readonly seed: number
  /** The fraction of requests with a fault. Default 0.2. */
  readonly rate?: number
  /** Kinds of faults. Default: {@link usualKinds}. */
  readonly kinds?: readonly Fault['kind'][]
  /** Limit of a delay in milliseconds. Default 50. */
  readonly maxDelay?: number
  /** Length of bursts of 500 or 503 answers. Default 1. */
  readonly burst?: number
}

/** Common faults, without those of broken servers and networks. */
const usualKinds: readonly Fault['kind'][] = ['delay', 'status', 'reset', 'hang', 'truncate', 'flip']

/**
 * Random faults that clients should survive. Bits are flipped in whole objects only:
 * listings and ranges have no checksum, so a flip would go unnoticed.
 */
export function seededFaults({
  seed,
  rate = 0.2,
  kinds = usualKinds,
  maxDelay = 50,
  burst = 1,
}: SeededFaultsOptions): FaultPlan {
  const random = seededRandom(seed)
  let repeated: Fault | undefined
  let left = 0
  return (request) => {
    if (left > 0) {
      left -= 1
      return repeated
    }
    const fault = draw(request)
    if (fault?.kind === 'status' && burst > 1) {
      repeated = fault
      left = Math.floor(random() * burst)
    }
    return fault
  }

  function draw(request: ProxiedRequest): Fault | undefined {
    const [chance, choice, part] = [random(), random(), random()]
    if (chance >= rate) return undefined
    const possible = faultsFor(request, part, maxDelay).filter(({ kind }) => kinds.includes(kind))
    let rest = choice * possible.reduce((sum, { kind }) => sum + weightOf(kind), 0)
    return possible.find(({ kind }) => (rest -= weightOf(kind)) < 0)
  }
}

/** The weight of a kind. Hanging requests are rarer, since each costs a client its whole timeout. */
const weightOf = (kind: Fault['kind']): number => (kind === 'hang' ? 0.25 : 1)

function faultsFor({ operation, method, headers }: ProxiedRequest, part: number, maxDelay: number): Fault[] {
  const faults: Fault[] = [
    { kind: 'delay', ms: part * maxDelay },
    { kind: 'status', status: 429, retryAfter: 0 },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 500, acted: true },
    { kind: 'status', status: 503 },
    { kind: 'reset', when: 'before' },
    { kind: 'reset', when: 'during' },
    { kind: 'reset', when: 'after' },
    { kind: 'hang', when: 'before' },
    { kind: 'hang', when: 'after' },
  ]
  if (method !== 'HEAD') faults.push({ kind: 'truncate', keep: part })
  faults.push({ kind: 'slow', ms: part * maxDelay }, { kind: 'duplicate', ms: part * maxDelay })
  faults.push({ kind: 'refuse', status: 403, code: 'RequestTimeTooSkewed' })
  if (operation === 'GetObject') faults.push({ kind: 'hang', when: 'during' })
  if (operation === 'GetObject' && headers.range === undefined) {
    faults.push({ kind: 'flip', at: part }, { kind: 'shorten', keep: part })
  }
  return faults
}
