import {
  type Executor,
  type GuaranteeLevel,
  guaranteeFields,
  type Guarantees,
  lowestNode,
  unsupportedRuntime,
} from '@ws/core/executor'
import { defineExecutor, unavailable } from '@ws/sandbox'

import { attachVirtual } from './attach.ts'
import { resolveOptions, type VirtualExecutorOptions, type ResolvedOptions } from './options.ts'
import { loadDownloader } from './run/downloads.ts'
import { WorkerPool } from './run/pool.ts'

const interpreted = Object.fromEntries(
  guaranteeFields.map((field) => [field, 'interpreter' satisfies GuaranteeLevel]),
) as Record<keyof Guarantees, 'interpreter'>

/** A command starts no process: its only effects are workspace operations, and downloads from listed hosts. */
function guaranteesOf({ network }: Pick<ResolvedOptions, 'network'>): Guarantees {
  return network === undefined ? interpreted : { ...interpreted, network: 'names' }
}

interface Interpreter extends ResolvedOptions {
  readonly pool: WorkerPool
}

const createInterpreter = defineExecutor<Interpreter, true>({
  name: 'virtual',
  kind: 'interpreter',
  async probe() {
    const runtime = unsupportedRuntime()
    if (runtime === undefined) return { found: true }
    const missing = `the interpreter is confined on Node only, and this is ${runtime}`
    return unavailable(missing, `run this program with Node ${lowestNode} or newer`)
  },
  guarantees: (_found, options) => guaranteesOf(options),
  async attach({ files, topEntries }, _found, { pool, limits, network }) {
    const named = network && { network, create: await loadDownloader() }
    return attachVirtual({ files, topEntries, pool, limits, network: named })
  },
})

/**
 * Runs commands in just-bash, an interpreter of bash with its own `ls`, `grep`, `awk`, `jq` and so on, on the workspace's files.
 * Works on every machine and adapter, without real programs such as `git`, `node` or `python3`. Only `curl` has a network, and reaches
 * only the listed hosts.
 * @throws WorkspaceError `EINVAL` for options without a meaning
 */
export function createVirtualExecutor(options: VirtualExecutorOptions = {}): Executor {
  const resolved = resolveOptions(options)
  const { concurrency, limits } = resolved
  return createInterpreter({ ...resolved, pool: new WorkerPool({ size: concurrency, maxMemory: limits.maxMemory }) })
}
