import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import { signals } from '@ws/core/adapter'
import {
  type Executor,
  lowestNode,
  shortages,
  unsupportedRuntime,
  noGuarantees,
  type ProbeReport,
  type WorkspaceView,
} from '@ws/core/executor'

import { attachDriver } from './attach-driver.ts'
import type { ConfinedTarget, ExecutorDriver, Probed, TryOut } from './driver.ts'
import { findOwnerProblem, type OwnerProblem, probingOwner } from './owner.ts'
import { ProbeCache } from './probe-cache.ts'
import { systemProblem } from '../run/system.ts'
import { tryOut } from './trial.ts'

interface Outcome<Found> {
  readonly report: ProbeReport
  readonly found?: Found | undefined
}

/**
 * Defines a kind of executor by its driver. The base handles probes, owner check, input, output, timeout, abort, signals, terminals,
 * `close()` and results. If a driver breaks its contract, the command fails with `EIO` or `ENOEXEC` instead of hanging.
 *
 * @returns a function that makes an executor from options. The options are checked, and must be plain data if the driver names programs
 */
export function defineExecutor<Options, Found>(driver: ExecutorDriver<Options, Found>): (options: Options) => Executor {
  const probes = driver.programs && new ProbeCache<Outcome<Found>>(driver.programs)
  return (options) => createExecutor(driver, probes, options)
}

function createExecutor<Options, Found>(
  driver: ExecutorDriver<Options, Found>,
  probes: ProbeCache<Outcome<Found>> | undefined,
  options: Options,
): Executor {
  const { name, kind = 'process' } = driver
  const optionsKey = probes && JSON.stringify(options)

  async function find(target: ConfinedTarget, signal?: AbortSignal): Promise<Outcome<Found>> {
    signal?.throwIfAborted()
    const problem =
      kind === 'process'
        ? (systemProblem(driver.systems) ?? runtimeProblem() ?? findOwnerProblem(target.owner))
        : undefined
    if (problem !== undefined) return outcomeOf(unavailable(problem.reason, problem.remedy))
    const { root, owner } = target
    const key = [optionsKey, process.getuid?.(), owner.uid, owner.gid, root].join(' ')
    const tryThere: TryOut<Found, Options> = (
      found,
      command,
      { isRight = () => true, options: other = options } = {},
    ) => tryOut(driver, target, { found, options: other, command, isRight })
    const probe = async () => outcomeOf(await probed(() => driver.probe(target, options, tryThere)))
    return signals.orAbort(probes ? probes.get(key, probe) : probe(), signal)
  }

  function outcomeOf({ found, ...report }: Probed<Found>): Outcome<Found> {
    const guarantees = found === undefined ? noGuarantees : driver.guarantees(found, options)
    const nothing = { missing: [], howToFix: [], details: {} }
    return { found, report: { available: found !== undefined, guarantees, ...nothing, ...report } }
  }

  return {
    name,
    kind,
    async probe({
      root = paths.root,
      owner = probingOwner(),
      withDetails = false,
      signal,
    }: Parameters<Executor['probe']>[0] = {}) {
      const target = { root, owner }
      const { report, found } = await find(target, signal)
      if (found === undefined || driver.describe === undefined || !withDetails) return report
      return { ...report, details: { ...report.details, ...(await driver.describe(target, found, options)) } }
    },
    async attach(view: WorkspaceView) {
      // Root needs a named user for its commands.
      const owner = view.owner ?? (kind === 'process' && process.getuid?.() === 0 ? { uid: 0, gid: 0 } : probingOwner())
      const { report, found } = await find({ root: view.root, owner })
      if (found !== undefined) {
        const attached = await driver.attach({ ...view, owner }, found, options)
        return attachDriver({ name, guarantees: report.guarantees, owner, driver: attached })
      }
      throw new WorkspaceError({
        code: 'ENOEXECUTOR',
        operation: 'attach',
        reason: report.missing.join('; '),
        remedy: report.howToFix.join('; '),
      })
    },
  }
}

function runtimeProblem(): OwnerProblem | undefined {
  const runtime = unsupportedRuntime()
  if (runtime === undefined) return undefined
  const remedy = `run this program with Node ${lowestNode} or newer`
  return { reason: `commands run on Node only, and this is ${runtime}`, remedy }
}

/** Runs a probe. Reports a known problem by its message, and a failed system call by its name, without host paths. */
async function probed<Found>(probe: () => Promise<Probed<Found>>): Promise<Probed<Found>> {
  try {
    return await probe()
  } catch (error) {
    const shortage = shortages.of(error)
    if (shortage !== undefined) throw untried(shortage, error) // @defence a shortage at the moment of a probe: in commands and sessions
    if (isWorkspaceError(error)) return unavailable(error.reason, error.remedy)
    if (!isSystemError(error)) throw error
    return unavailable(
      `\`${error.syscall}\` failed (${error.code})`,
      'let this process write to the directory for temporary files',
    )
  }
}

/** Returns the error for an unfinished probe. Skipping this executor could select a weaker boundary. */
function untried({ reason, remedy }: shortages.Shortage, native: unknown): WorkspaceError {
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

/** Returns the result of a probe that found a missing part. */
export function unavailable(
  missing: string,
  howToFix: string | undefined,
  details: ProbeReport['details'] = {},
): Omit<Probed<never>, 'found'> {
  return { missing: [missing], howToFix: howToFix === undefined || howToFix === '' ? [] : [howToFix], details }
}
