import { hostLists } from '@ws/core/executor'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { addressesShape, type Resolve } from '@ws/network'

/** Limits of a command. A command beyond a limit ends with exit code 126 and a message on standard error. */
export interface VirtualLimits {
  /** Number of simple commands in total, including those in loops. Default 1,000,000. */
  readonly maxCommands?: number
  /** Number of rounds of one loop, also in awk and sed. Default 1,000,000. */
  readonly maxLoopIterations?: number
  /** Nested calls of shell functions. Default 100. */
  readonly maxCallDepth?: number
  /** Bytes of both output streams together. Further output is dropped. Default 64 MiB. */
  readonly maxOutputBytes?: number
  /** Bytes of the largest file read, the largest string, and standard input. Default 64 MiB. */
  readonly maxFileBytes?: number
  /** Heap bytes of a thread. A larger thread ends by `SIGKILL`. jq may use as much again, then ends with 134. Default 512 MiB. */
  readonly maxMemory?: number
}

export interface VirtualNetwork {
  /** Hosts: `example.org` (ports 80 and 443), `*.example.org` (every name below), `db.internal:8080` (another port). */
  readonly allow: readonly string[]
  /** Non-public addresses and ranges (`10.0.0.0/8`) to which these hosts may resolve. Default: none. */
  readonly addresses?: readonly string[] | undefined
  /** Resolves listed hosts. Default: the system's resolver. */
  readonly resolve?: Resolve | undefined
}

export interface VirtualExecutorOptions {
  /** Default `none`. `{ allow: [...] }` adds a `curl` for the listed hosts. The network guarantee is then `names`. */
  readonly network?: 'none' | VirtualNetwork | undefined
  /**
   * `true` adds `python3` and `python`: CPython in WebAssembly, over the workspace's files alone. Default `false`.
   * Needs the package `just-bash` beside the executor.
   */
  readonly python?: boolean | undefined
  /** Number of commands that run at once in all workspaces of the executor, each in a thread. Further commands wait. Default 4. */
  readonly concurrency?: number | undefined
  readonly limits?: VirtualLimits | undefined
}

export interface ResolvedNetwork extends Pick<VirtualNetwork, 'addresses' | 'resolve'> {
  readonly list: hostLists.List
}

export interface ResolvedOptions {
  readonly network: ResolvedNetwork | undefined
  readonly python: boolean
  readonly concurrency: number
  readonly limits: Required<VirtualLimits>
}

const mebibyte = 1024 * 1024

const defaults: Required<VirtualLimits> = {
  maxCommands: 1_000_000,
  maxLoopIterations: 1_000_000,
  maxCallDepth: 100,
  maxOutputBytes: 64 * mebibyte,
  maxFileBytes: 64 * mebibyte,
  maxMemory: 512 * mebibyte,
}

const count = option.integer(1)

const networkShapes: OptionShapes<VirtualNetwork> = {
  allow: option.required(option.strings),
  addresses: addressesShape,
  resolve: option.function,
}

const operation = 'createVirtualExecutor'

const shapes: OptionShapes<VirtualExecutorOptions> = {
  network: {
    must: '`none`, or an object with a list of hosts, such as `{ allow: ["example.org"] }`',
    accepts: (value) => value === 'none' || option.object.accepts(value),
    options: networkShapes as unknown as OptionShapes,
  },
  python: option.boolean,
  concurrency: option.integer(1, 256),
  limits: option.options<VirtualLimits>({
    maxCommands: count,
    maxLoopIterations: count,
    maxCallDepth: count,
    maxOutputBytes: count,
    maxFileBytes: count,
    // The interpreter itself needs this much memory.
    maxMemory: option.integer(64 * mebibyte),
  }),
}

export function resolveOptions(options: VirtualExecutorOptions): ResolvedOptions {
  checkOptions<VirtualExecutorOptions>(options, shapes, { operation })
  const { concurrency = 4, limits = {}, network = 'none', python = false } = options
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  return {
    network: resolveNetwork(network),
    python,
    concurrency,
    limits: { ...defaults, ...Object.fromEntries(given) },
  }
}

function resolveNetwork(network: 'none' | VirtualNetwork): ResolvedNetwork | undefined {
  if (network === 'none') return undefined
  const { allow, ...rest } = network
  return { ...rest, list: new hostLists.List(hostLists.read(allow, { operation, option: 'network.allow' })) }
}
