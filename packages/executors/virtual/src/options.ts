import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import { HostList, addressesShape, readHosts, type Resolve } from '@ws/network'

/** Beyond each of these a command ends with exit code 126 and says so on standard error. */
export interface VirtualLimits {
  /** Simple commands that run altogether, loops included. Default 1,000,000. */
  readonly maxCommands?: number
  /** Rounds of one loop, of the shell's own and of awk's and sed's. Default 1,000,000. */
  readonly maxLoopIterations?: number
  /** Shell functions that call one another. Default 100. */
  readonly maxCallDepth?: number
  /** Bytes of output, both streams together, before it is cut for the result. Default 64 MiB. */
  readonly maxOutputBytes?: number
  /** Bytes of the largest file that is read, the largest string, and standard input. Default 64 MiB. */
  readonly maxFileBytes?: number
  /**
   * Bytes of heap of the thread that runs a command; above it the command ends with `SIGKILL`. jq gets as much besides,
   * and ends with 134. Default 512 MiB.
   */
  readonly maxMemory?: number
}

/** The hosts that `curl` reaches. */
export interface VirtualNetwork {
  /** Hosts by name: `example.org` for its ports 80 and 443, `*.example.org` for every name below, `db.internal:8080` for another port. */
  readonly allow: readonly string[]
  /** Addresses and ranges (`10.0.0.0/8`) that these hosts may have beside public ones. Default: none. */
  readonly addresses?: readonly string[] | undefined
  /** Gives the addresses of a listed host, in place of the system's resolver. */
  readonly resolve?: Resolve | undefined
}

export interface VirtualExecutorOptions {
  /** Default `none`. `{ allow: [...] }`: there is a `curl` that downloads from the listed hosts; the guarantee is then `names`. */
  readonly network?: 'none' | VirtualNetwork | undefined
  /** Commands of all its workspaces that run at once; more of them wait. Each takes a thread. Default 4. */
  readonly concurrency?: number | undefined
  readonly limits?: VirtualLimits | undefined
}

/** As {@link VirtualNetwork}, checked. */
export interface ResolvedNetwork extends Pick<VirtualNetwork, 'addresses' | 'resolve'> {
  readonly list: HostList
}

export interface ResolvedOptions {
  readonly network: ResolvedNetwork | undefined
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
  concurrency: option.integer(1, 256),
  limits: option.options<VirtualLimits>({
    maxCommands: count,
    maxLoopIterations: count,
    maxCallDepth: count,
    maxOutputBytes: count,
    maxFileBytes: count,
    // Less than this is what the interpreter itself takes.
    maxMemory: option.integer(64 * mebibyte),
  }),
}

/** @throws WorkspaceError `EINVAL` that names the option, says what it must be and what was given. */
export function resolveOptions(options: VirtualExecutorOptions): ResolvedOptions {
  checkOptions<VirtualExecutorOptions>(options, shapes, { operation })
  const { concurrency = 4, limits = {}, network = 'none' } = options
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  return { network: resolveNetwork(network), concurrency, limits: { ...defaults, ...Object.fromEntries(given) } }
}

function resolveNetwork(network: 'none' | VirtualNetwork): ResolvedNetwork | undefined {
  if (network === 'none') return undefined
  const { allow, ...rest } = network
  return { ...rest, list: new HostList(readHosts(allow, { operation, option: 'network.allow' })) }
}
