import type { Executor } from '@ws/core/executor'
import { defineExecutor, type ExecutorDriver, Temporary } from '@ws/sandbox'

import { attachSandboxRuntime, prefix } from './attach.ts'
import { guaranteesOf, type Seen } from './guarantees.ts'
import { resolveOptions, type ResolvedOptions, type SandboxRuntimeExecutorOptions } from './options.ts'
import { probeSandboxRuntime } from './probe.ts'

const driver: ExecutorDriver<ResolvedOptions, Seen> = {
  name: 'sandbox-runtime',
  systems: ['darwin', 'linux'],
  programs: ['bwrap', 'sandbox-exec'],
  probe: probeSandboxRuntime,
  guarantees: guaranteesOf,
  attach(target, seen, options) {
    Temporary.sweepRuntimeDirectories(prefix)
    return attachSandboxRuntime(target, seen, options)
  },
}

const createExecutor = defineExecutor(driver)

/**
 * Runs commands under seatbelt on macOS, and in bubblewrap on Linux, by `@anthropic-ai/sandbox-runtime`. Each mount must be at its own real
 * path. Commands have no network. `probe()` reports the guarantees of this machine. @throws WorkspaceError `EINVAL`
 */
export function createSandboxRuntimeExecutor(options: SandboxRuntimeExecutorOptions = {}): Executor {
  return createExecutor(resolveOptions(options))
}
