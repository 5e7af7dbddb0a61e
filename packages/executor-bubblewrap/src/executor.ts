import { createScratchAdapter } from '@ws/adapter-local'
import { type Executor, type Owner, type ProbeReport, type ProbeTarget, rootPath, WorkspaceError } from '@ws/core'
import { attachCgroup } from '@ws/process'

import { createAttached } from './attach.ts'
import { type BubblewrapExecutorOptions, resolveOptions } from './options.ts'
import { resolveOwner } from './owner.ts'
import { heldGuarantees, probe } from './probe.ts'
import { findPrograms } from './programs.ts'
import { executorName } from './running.ts'

/**
 * Runs commands in bubblewrap: namespaces of their own, a tree made of the workspace's mounts and the system's programs,
 * a system-call filter. With a mount at `/`, proot inside makes the workspace the root; the boundary stays the kernel's.
 *
 * Commands run as the workspace's owner, never as root. Call it from the main thread: what a Worker starts ends with it.
 *
 * @throws WorkspaceError `EINVAL` for an option without a meaning
 */
export function createBubblewrapExecutor(options: BubblewrapExecutorOptions = {}): Executor {
  const resolved = resolveOptions(options)
  const reports = new Map<string, Promise<ProbeReport>>()

  /** What was available stays so; what was missing may have been installed since, and is looked for again. */
  async function probeOnce(target: ProbeTarget = {}): Promise<ProbeReport> {
    const key = `${target.owner?.uid}:${target.owner?.gid} ${(target.root ?? rootPath) === '/'}`
    const known = reports.get(key)
    if (known !== undefined) return await known
    const asked = probe(resolved, target)
    reports.set(key, asked)
    try {
      const report = await asked
      if (!report.available) reports.delete(key)
      return report
    } catch (error) {
      reports.delete(key)
      throw error
    }
  }

  return {
    name: executorName,
    kind: 'process',
    probe: probeOnce,
    async attach(view) {
      const owner: Owner = resolveOwner(view.owner)
      const { bwrap, proot } = await findPrograms({ versions: false })
      if (bwrap === undefined) {
        throw new WorkspaceError({
          code: 'ENOEXECUTOR',
          operation: 'attach',
          reason: 'bubblewrap is not installed',
          remedy: '`apt-get install bubblewrap`',
        })
      }
      const guarantees = heldGuarantees(resolved)
      const cgroup = attachCgroup(resolved.cgroup)
      return createAttached({
        root: view.root,
        owner,
        options: resolved,
        programs: { bwrap, proot },
        guarantees,
        cgroup,
      })
    },
    createScratch: async (scratch) => await createScratchAdapter({ owner: scratch.owner }),
  }
}
