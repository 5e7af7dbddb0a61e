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
import { findPython, Pythons } from './run/python.ts'

const interpreted = Object.fromEntries(
  guaranteeFields.map((field) => [field, 'interpreter' satisfies GuaranteeLevel]),
) as Record<keyof Guarantees, 'interpreter'>

/** A command starts no process: its only effects are workspace operations, and downloads from listed hosts. */
function guaranteesOf({ network }: Pick<ResolvedOptions, 'network'>): Guarantees {
  return network === undefined ? interpreted : { ...interpreted, network: 'names' }
}

interface Interpreter extends ResolvedOptions {
  readonly pool: WorkerPool
  /** Finds python on first use, and keeps it for all workspaces of the executor. */
  readonly pythons: () => Pythons | undefined
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
  async attach({ files, topEntries }, _found, { pool, limits, network, pythons }) {
    const named = network && { network, create: await loadDownloader() }
    return attachVirtual({ files, topEntries, pool, limits, network: named, pythons: pythons() })
  },
})

/**
 * Runs commands in just-bash, an interpreter of bash with its own `ls`, `grep`, `awk`, `jq` and so on, on the workspace's files.
 * Works on every machine and adapter, without real programs such as `git` or `node`. Only `curl` has a network, and reaches only the
 * listed hosts. With `python` there is a `python3` in WebAssembly.
 * @throws WorkspaceError `EINVAL` for options without a meaning
 */
export function createVirtualExecutor(options: VirtualExecutorOptions = {}): Executor {
  const resolved = resolveOptions(options)
  const { concurrency, limits, python } = resolved
  let pythons: Pythons | undefined
  const find = () => (python ? (pythons ??= new Pythons(findPython())) : undefined)
  return createInterpreter({
    ...resolved,
    pythons: find,
    pool: new WorkerPool({ size: concurrency, maxMemory: limits.maxMemory }),
  })
}
