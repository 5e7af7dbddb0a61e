import { Socket } from 'node:net'

import { Descriptors } from '@ws/sandbox'

import { signalIn } from '../processes/first-process.ts'
import { unreadableCaller } from '../hide/hide.ts'
import type { Sandbox, SandboxStart } from '../run/sandbox.ts'
import type { WarmPool } from './pool.ts'
import type { Spare } from './spare.ts'
import type { Supervisor } from './supervisor.ts'
import type { Running, WarmEnd } from './supervisor-parts.ts'

export interface WarmCommand {
  readonly pool: WarmPool
  readonly supervisor: Supervisor
  readonly spare: Spare
  readonly running: Running
  /** Ends all processes in the sandbox immediately. */
  readonly end: () => void
  /** True if the command's directory listings are watched. */
  readonly hides: boolean
  readonly start: Pick<SandboxStart, 'hasInput' | 'onStdout' | 'onStderr'>
}

/** Follows a command in a spare sandbox to its end. */
export function followWarm({
  pool,
  supervisor,
  spare,
  running,
  end,
  hides,
  start,
}: WarmCommand): Omit<Sandbox, 'watch'> {
  const over = new AbortController()
  const read = (which: 'stdout' | 'stderr') => {
    const stream = Descriptors.readPipe(spare.take(which))
    stream.on('error', () => undefined) // the end of the stream follows
    const listener = (which === 'stdout' ? start.onStdout : start.onStderr) ?? (() => undefined)
    void Descriptors.readFurtherOutput(stream, listener, over.signal)
    return stream
  }
  const streams = [read('stdout'), read('stderr')]
  const stdin = start.hasInput === true ? inputOf(spare) : undefined
  // Closes this process's descriptor of the order. Also closes the input if this process writes no input.
  spare.close()
  let ending: WarmEnd | undefined
  const gone = running.ended.then((how) => {
    ending = how
    over.abort()
    stdin?.destroy()
    for (const stream of streams) Descriptors.takeRest(stream)
    if (how.isLost) pool.lose(supervisor)
    else pool.served()
  })
  return {
    process: {
      async wait() {
        await gone
        const { status, unlisted } = ending ?? {}
        if (unlisted === 'killed') return { exitCode: null, signal: 'SIGKILL', survivors: false }
        // The process that hides names exits with 0 after every end of the command.
        const exitCode = unlisted === 'unreadable' ? unreadableCaller : hides ? 0 : (status ?? null)
        return { exitCode, signal: null, survivors: false }
      },
      survivors: false,
      stdin,
    },
    errorsRead: gone,
    exitCode: () => ending?.status,
    unstarted: () => false,
    signal: (signal) => signalIn(spare.child, -spare.child.pid, signal),
    end,
    gone,
    hides,
  }
}

function inputOf(spare: Spare): Socket {
  const socket = new Socket({ fd: spare.take('stdin'), readable: false, writable: true })
  // A command may close its input, or end, before it has read all input.
  socket.on('error', () => undefined)
  return socket
}
