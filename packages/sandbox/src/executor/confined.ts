import { isWorkspaceError, rootPath, WorkspaceError } from '@ws/core'
import {
  type AttachedExecutor,
  type Executor,
  lowestNode,
  unsupportedRuntime,
  noGuarantees,
  type ProbeReport,
  type ProbeTarget,
  type Shortage,
  shortageOf,
  type WorkspaceView,
} from '@ws/core/executor'

import { findOwnerProblem, probingOwner } from './owner.ts'
import { ProbeCache } from './probe-cache.ts'
import type { ConfinedProbe, ConfinedTarget } from './types.ts'

/** An executor of processes that are confined one by one, as the workspace's owner. */
export interface ConfinedExecutorDefinition<Options, Machine> {
  readonly name: string
  /** Bare names of the programs that commands are run with. While they are the same files, one probe is enough. */
  readonly programs: readonly string[]
  /** Runs the real thing once. It ends by itself: a caller can give up waiting, and others may wait for it too. */
  readonly probe: (target: ConfinedTarget, options: Options) => Promise<ConfinedProbe<Machine>>
  /** More details for the operator: tried when a probe asks for them. */
  readonly describe?: (target: ConfinedTarget, machine: Machine, options: Options) => Promise<ProbeReport['details']>
  readonly attach: (
    target: ConfinedTarget,
    machine: Machine,
    options: Options,
  ) => AttachedExecutor | Promise<AttachedExecutor>
}

/**
 * Defines a kind of executor: its executors share what was probed in this process, for equal options, root and owner.
 *
 * @returns makes an executor of checked options, which are plain data
 */
export function defineConfinedExecutor<Options, Machine>(
  definition: ConfinedExecutorDefinition<Options, Machine>,
): (options: Options) => Executor {
  const probes = new ProbeCache<Machine>(definition.programs)
  return (options) => createExecutor(definition, probes, options)
}

function createExecutor<Options, Machine>(
  { name, probe, describe, attach }: ConfinedExecutorDefinition<Options, Machine>,
  probes: ProbeCache<Machine>,
  options: Options,
): Executor {
  const optionsKey = JSON.stringify(options)

  async function find(target: ConfinedTarget, signal?: AbortSignal): Promise<ConfinedProbe<Machine>> {
    signal?.throwIfAborted()
    const runtime = unsupportedRuntime()
    if (runtime !== undefined)
      return unavailable(
        `commands run on Node only, and this is ${runtime}`,
        `run this program with Node ${lowestNode} or newer`,
      )
    const problem = findOwnerProblem(target.owner)
    if (problem !== undefined) return unavailable(problem.reason, problem.remedy)
    const { root, owner } = target
    const key = [optionsKey, process.getuid?.(), owner.uid, owner.gid, root].join(' ')
    return untilAborted(
      probes.get(key, () => tryOut(() => probe(target, options))),
      signal,
    )
  }

  return {
    name,
    kind: 'process',
    async probe({ root = rootPath, owner = probingOwner(), withDetails = false, signal }: ProbeTarget = {}) {
      const target = { root, owner }
      const { report, machine } = await find(target, signal)
      if (machine === undefined || describe === undefined || !withDetails) return report
      return { ...report, details: { ...report.details, ...(await describe(target, machine, options)) } }
    },
    async attach({ root, owner }: WorkspaceView) {
      // As root, a user must be named: the user that probes run as owns nothing.
      const target = { root, owner: owner ?? (process.getuid?.() === 0 ? { uid: 0, gid: 0 } : probingOwner()) }
      const { report, machine } = await find(target)
      if (machine !== undefined) return await attach(target, machine, options)
      throw new WorkspaceError({
        code: 'ENOEXECUTOR',
        operation: 'attach',
        reason: report.missing.join('; '),
        remedy: report.howToFix.join('; '),
      })
    },
  }
}

/** A known problem has its own message, and a failed system call is reported by its name: neither names a host path. */
async function tryOut<Machine>(probe: () => Promise<ConfinedProbe<Machine>>): Promise<ConfinedProbe<Machine>> {
  try {
    return await probe()
  } catch (error) {
    const shortage = shortageOf(error)
    if (shortage !== undefined) throw untried(shortage, error)
    if (isWorkspaceError(error)) return unavailable(error.reason, error.remedy)
    if (!isSystemError(error)) throw error
    return unavailable(
      `\`${error.syscall}\` failed (${error.code})`,
      'let this process write to the directory for temporary files',
    )
  }
}

/** It is not known whether the executor is available. To go on with another one could be a weaker boundary. */
function untried({ reason, remedy }: Shortage, native: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOEXECUTOR',
    operation: 'probe',
    reason: `it could not be tried whether commands can be confined: ${reason}`,
    remedy,
    native,
  })
}

function isSystemError(error: unknown): error is { readonly code: string; readonly syscall: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error
}

/** The outcome of a probe that found something missing. */
export function unavailable(
  missing: string,
  howToFix: string | undefined,
  details: ProbeReport['details'] = {},
): { readonly report: ProbeReport } {
  const fixes = howToFix === undefined || howToFix === '' ? [] : [howToFix]
  return { report: { available: false, guarantees: noGuarantees, missing: [missing], howToFix: fixes, details } }
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
