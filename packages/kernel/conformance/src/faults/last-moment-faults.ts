import type { Executor } from '@ws/core/executor'
import { spawnSync } from 'node:child_process'
import { changeCommand, type ExecutorFault } from './executor-fault.ts'

/** Runs `act` with a number from the command, directly after the command's end. Node cannot run other callbacks in between. */
const atTheEnd =
  (named: RegExp, act: (number: number) => void) =>
  (inner: Executor): Executor =>
    changeCommand(inner, (running, { command }) => ({
      async wait() {
        const result = await running.wait()
        const number = named.exec(command)?.[1]
        if (number !== undefined) act(Number(number))
        return result
      },
    }))

/** Effects on the host that Node has not noticed yet when the command has ended. */
export const lastMomentFaults: readonly ExecutorFault[] = [
  {
    name: 'kills a process of the host in its last moment',
    caughtBy: 'processes: none of the host is seen or signalled',
    base: 'process',
    apply: atTheEnd(/kill -KILL (\d+)/, (pid) => void process.kill(pid, 'SIGKILL')),
  },
  {
    name: 'reaches a server of the host in its last moment',
    caughtBy: 'network: no network is reached',
    base: 'process',
    apply: atTheEnd(
      /\/dev\/tcp\/127\.0\.0\.1\/(\d+)/,
      (port) => void spawnSync('bash', ['-c', `exec 3<> /dev/tcp/127.0.0.1/${port}`]),
    ),
  },
]
