import type { Duplex } from 'node:stream'
import { closeSync } from 'node:fs'

import type { Owner } from '@ws/core/adapter'
import { Descriptors, Processes } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import { descriptors } from '../processes/first-process.ts'
import { checkNotShared } from '../processes/held-network.ts'
import { listingTracer } from '../hide/hide.ts'
import type { StartGuard } from '../processes/start-guard.ts'
import type { Layout } from '../view/layout.ts'
import { supervisorNumbers, supervisorScript } from './script.ts'
import { Supervisor } from './supervisor.ts'
import { bubblewrapArguments, treeArguments } from '../bwrap/tree-arguments.ts'

/** Number of spares (waiting sandboxes). A command takes one spare; the other serves the next command while a new spare is made. */
const keptSpares = 2

export interface LaunchOptions {
  readonly command: SandboxCommand
  readonly kept: Layout
  readonly owner: Owner
  readonly guard: StartGuard
  readonly patience: number
}

/** Starts a supervisor, which ends with this process, like bubblewrap. @throws the system's error on failure */
export function launchSupervisor({ command, kept, owner, guard, patience }: LaunchOptions): Supervisor {
  const numbers = supervisorNumbers()
  if (numbers === undefined) throw new Error(`there is no system call table for ${process.arch}`)
  const { scratchBytes, network, seccomp } = command
  const asOwner = process.getuid?.() === 0 ? owner : {}
  const tracer = command.direct && listingTracer(command.direct.hidden)
  const inside = [
    tracer ? `${numbers},${tracer.numbers}` : numbers,
    descriptors.control,
    descriptors.seccomp,
    scratchBytes,
  ]
  const flags = [kept.hasTemporary ? 0 : 1, network === 'none' ? 1 : 0]
  const watched = tracer ? [tracer.root, tracer.names, tracer.trace] : []
  const script = (tracer?.filter ?? '') + supervisorScript
  const argv = [Processes.perl, '-e', script, ...[...inside, ...flags, owner.uid, owner.gid, ...watched].map(String)]
  const tree = { ...command, layout: kept, direct: undefined }
  // The supervisor has no rights and no filter, so each spare sets its own filter. User namespaces are made through `/proc`.
  const {
    extraFds,
    options,
    argv: whole,
    close,
  } = bubblewrapArguments(tree, argv, (given) => {
    given.fds.set(descriptors.control, 'pipe')
    return [...treeArguments(tree, given, { outer: {}, processes: 'writable' }), '--chdir', '/']
  })
  const order = Descriptors.openPrivateFile(options)
  try {
    extraFds.set(descriptors.arguments, order)
    const stdio = Descriptors.openStdio({ argv: whole, extraFds })
    try {
      const [program = '', ...rest] = whole
      const slots = ['ignore' as const, 'ignore' as const, 'ignore' as const, ...stdio.slots.slice(3)]
      const env = Object.assign(Object.create(null), { NODE_V8_COVERAGE: undefined })
      const child = Processes.spawnChild(program, rest, { env, cwd: '/', detached: true, stdio: slots, ...asOwner })
      const settled = child.pid === undefined ? () => undefined : guard.starting(child.pid)
      const streams: readonly unknown[] = child.stdio
      return new Supervisor({
        child,
        control: streams[descriptors.control] as Duplex,
        status: streams[descriptors.status] as Duplex,
        filterBytes: seccomp.length,
        spares: keptSpares,
        patience,
        check: network === 'host' ? () => undefined : checkNotShared,
        onSettled: settled,
      })
    } finally {
      stdio.close()
    }
  } finally {
    closeSync(order)
    close()
  }
}
