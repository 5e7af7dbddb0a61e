import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

import type { KillSignal } from '@ws/core/executor'
import {
  type CommandPort,
  type CommandRun,
  Descriptors,
  type LocalCommand,
  Processes,
  type RunningProcess,
  startLocal,
} from '@ws/sandbox'

import { endOf } from './ends.ts'
import { errorDescriptor, parseReport, reportDescriptor } from './first-process.ts'

export interface ProotCommand extends LocalCommand {
  /** Releases a waiting command. Call it after the start. `undefined` if the command does not wait. */
  readonly sendGo: ((started: RunningProcess) => void) | undefined
}

/** Milliseconds for reading the rest of a report after its writers have ended. */
const reportTimeout = 1_000

/** Starts proot. The first process reports the command's end, after which proot may still run. */
export function startProot(command: ProotCommand, run: CommandRun): CommandPort {
  const port = startLocal(command, run)
  const { running } = port
  command.sendGo?.(running)
  const report = Descriptors.collect(running.pipes.get(reportDescriptor))
  const known = () => parseReport(report.text())
  const errorsRead = Descriptors.readFurtherOutput(running.pipes.get(errorDescriptor), run.onStderr, running.ended)
  const gone = running.wait().then(async (ended) => {
    await Promise.all([closed(report.stream), errorsRead])
    return ended
  })
  const reported = report.until(() => known().ending !== undefined).then(() => endOf(known()))
  const signalAll = port.signal
  return Object.assign(port, {
    signal: (name: KillSignal, whom: 'command' | 'everyone') =>
      whom === 'everyone' || running.pid === undefined ? signalAll(name, whom) : signalGroup(running.pid, name),
    exited: Promise.race([reported, gone.then((ended) => endOf(known(), ended))]),
    gone,
  })
}

function closed(pipe: Duplex | undefined): Promise<unknown> {
  if (pipe === undefined || pipe.closed) return Promise.resolve()
  const late = delay(reportTimeout, undefined, { ref: false }).then(() => pipe.destroy())
  return Promise.race([once(pipe, 'close').catch(() => undefined), late]) // a broken pipe is also closed
}

/**
 * Signals the command's process group, but not proot, which handles SIGQUIT and SIGUSR1 in its own way.
 * @param root the started process: a supervisor, or the parent of the namespace @returns false if no process received the signal
 */
function signalGroup(root: number, signal: NodeJS.Signals): boolean {
  const entries = Processes.listProcesses()
  const tracer = findTracer(entries, root)
  if (tracer === undefined) return false
  const members = entries.filter(({ pid, group, name }) => group === tracer.group && pid !== root && name !== 'proot')
  return members.map(({ pid }) => Processes.sendSignal(pid, signal)).some(Boolean)
}

function findTracer(entries: readonly Processes.ProcessStat[], root: number): Processes.ProcessStat | undefined {
  const below = new Set([root])
  for (let size = 0; size !== below.size; ) {
    size = below.size
    for (const { pid, parent } of entries) if (below.has(parent)) below.add(pid)
  }
  return entries.find(({ pid, name }) => name === 'proot' && below.has(pid))
}
