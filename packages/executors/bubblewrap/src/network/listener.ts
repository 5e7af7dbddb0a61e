import type { ChildProcess } from 'node:child_process'
import type { Socket as DatagramSocket } from 'node:dgram'
import { existsSync, readFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { getSystemErrorName } from 'node:util'

import { execError, shortages } from '@ws/core/executor'
import { howToInstall, Processes } from '@ws/sandbox'

import { setns } from '../processes/held-network.ts'

/** A socket to open in the network of a sandbox; over UDP for `dns`. `out`: a connection to a port of its loopback, without an address. */
export interface SandboxSocket {
  readonly kind: 'dns' | 'tcp' | 'out'
  readonly address: string
  readonly port: number
}

export interface ListenRequest {
  /** A process of the sandbox. `startTime` distinguishes the process from a later one with the same number. */
  readonly pid: number
  readonly startTime: string
  readonly owner: { readonly uid: number; readonly gid: number }
  /** `198.18.0.1/15`: the whole range reaches the sandbox's own loopback. `-`: no range. */
  readonly network: string
  readonly sockets: readonly SandboxSocket[]
  /** Called for each socket, in order of arrival. `number` is the socket's index in `sockets`. */
  readonly onSocket: (number: number, handle: Server | DatagramSocket | Socket) => void
  /** Called for each refusal by the kernel in the sandbox's network, at most 100 times. */
  readonly onRefused?: ((refused: RefusedPlace) => void) | undefined
}

/** An address without a listener that a program tried to reach; for `open`, a loopback port that was reached. */
export type RefusedPlace =
  | { readonly kind: 'tcp' | 'udp'; readonly address: string; readonly port: number }
  | { readonly kind: 'open'; readonly port: number }

export interface ListenedSockets {
  /** Resolves after the pending calls of `onRefused`. Later, each refusal is reported again, and counted from 0. */
  settle(): Promise<void>
  /** Ends the calls of `onRefused` after the pending ones. */
  end(): Promise<void>
}

export interface Listener {
  /**
   * Opens sockets in a sandbox's network namespace.
   * @throws WorkspaceError `ENOEXEC` on failure; the caller closes the sockets that have arrived
   */
  open(request: ListenRequest): Promise<ListenedSockets>
}

/** `ETOOMANYREFS`, for which Node has no name. */
const tooManyReferences = '109'
const hearing = readFileSync(new URL('refused.pl', import.meta.url), 'utf8')
const opener = readFileSync(new URL('listen.pl', import.meta.url), 'utf8')
/** Numbers of `sendmsg` and `recvmsg`. */
const numbers: Readonly<Record<string, readonly number[]>> = { x64: [46, 47], arm64: [211, 212] }

const shared = new Processes.Shared(startListener)

/** This process's helper that opens sockets in sandboxes: started for its first user, ended soon after its last. */
export function useListener(): Listener & { close(): void } {
  const { value, release } = shared.use()
  return { open: (request) => value.open(request), close: release }
}

/** Why sockets cannot be opened in sandboxes here. */
export function listenerProblem(): { readonly reason: string; readonly remedy: string } | undefined {
  if (numbers[process.arch] === undefined)
    return { reason: `there is no system call table for ${process.arch}`, remedy: 'run on x64 or arm64' }
  if (!existsSync(Processes.perl))
    return { reason: 'perl is not installed', remedy: `\`${howToInstall('perl-base')}\`` }
  return undefined
}

interface Waiting extends Pick<ListenRequest, 'onSocket'> {
  readonly expected: number
  came: number
  readonly settle: (problem?: Error) => void
}

/** Starts a helper that is not shared, so that a request that waits does not delay other users. */
export function startListener(): Listener & { isLost(): boolean; close(): void } {
  const problem = listenerProblem()
  if (problem !== undefined) throw execError('ENOEXEC', problem.reason, { remedy: problem.remedy })
  const child = Processes.spawnChild(
    Processes.perl,
    ['-e', `${hearing}\n${opener}`, ...[setns[process.arch], ...(numbers[process.arch] ?? [])].map(String)],
    { stdio: ['pipe', 'pipe', 'ignore', 'ipc'], env: {}, cwd: '/', detached: true },
  )
  const isLost = (): boolean => child.exitCode !== null || child.signalCode !== null
  const waiting = new Map<number, Waiting>()
  const hearers = new Map<number, (refused: RefusedPlace) => void>()
  const ending = new Map<number, () => void>()
  let last = 0
  let text = ''
  const rest = (): void => {
    if (waiting.size + ending.size > 0) return
    for (const part of partsOf(child)) part.unref?.()
  }
  const fail = (id: number, step: string, native?: unknown): void => {
    const shortage = shortages.of(native)
    const reason = `the sockets of the network could not be opened (${step})`
    const remedy = 'run the command again, or look with `ws doctor -v`'
    waiting
      .get(id)
      ?.settle(shortage ? shortages.refusal(shortage, { native }) : execError('ENOEXEC', reason, { remedy, native }))
  }
  const end = (native?: unknown): void => {
    for (const id of waiting.keys()) fail(id, 'the helper ended', native)
    for (const settle of ending.values()) settle()
  }
  child.on('error', end)
  child.on('close', () => end())
  child.stdin?.on('error', () => undefined) // `close` reports the end of the helper
  child.on('message', (message, handle) => {
    const { id, number } = message as { readonly id: number; readonly number: number }
    const one = waiting.get(id)
    if (one === undefined || handle === undefined) return void closeHandle(handle)
    one.onSocket(number, handle as Server | DatagramSocket | Socket)
    if (++one.came === one.expected) one.settle()
  })
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      const [kind, id, step = '', errno, port] = line.split(' ')
      if (kind === 'settled') ending.get(Number(id))?.()
      if (kind === 'refused') {
        const place = { kind: step, address: errno, port: Number(step === 'open' ? errno : port) }
        hearers.get(Number(id))?.(place as RefusedPlace)
      }
      const code =
        errno === tooManyReferences ? 'ETOOMANYREFS' : Number(errno) > 0 ? getSystemErrorName(-Number(errno)) : 'EIO'
      if (kind === 'failed') fail(Number(id), step, Object.assign(new Error(step), { code, syscall: step }))
    }
  })
  rest()
  return {
    isLost,
    open({ pid, startTime, owner, network, sockets, onSocket, onRefused }) {
      const id = ++last
      const order = (word: 'settle' | 'end'): Promise<void> =>
        new Promise<void>((resolve) => {
          const settle = (): void => {
            ending.delete(id)
            if (word === 'end') hearers.delete(id)
            rest()
            resolve()
          }
          ending.set(id, settle)
          for (const part of partsOf(child)) part.ref?.()
          child.stdin?.write(`${word} ${id}\n`)
          if (isLost()) settle()
        })
      return new Promise<ListenedSockets>((resolve, reject) => {
        const settle = (problem?: Error): void => {
          waiting.delete(id)
          rest()
          if (problem === undefined) return resolve({ settle: () => order('settle'), end: () => order('end') })
          hearers.delete(id)
          reject(problem)
        }
        if (onRefused !== undefined) hearers.set(id, onRefused)
        waiting.set(id, { onSocket, expected: sockets.length, came: 0, settle })
        for (const part of partsOf(child)) part.ref?.()
        const wanted = sockets.map(({ kind, address, port }) => `${kind}:${address}:${port}`)
        child.stdin?.write(`${[id, pid, startTime, owner.uid, owner.gid, network, ...wanted].join(' ')}\n`)
        if (isLost()) end()
      })
    },
    close() {
      child.stdin?.end()
      if (child.connected) child.disconnect()
    },
  }
}

/** The helper's handles that keep an event loop alive. */
function partsOf(child: ChildProcess): readonly Partial<Pick<ChildProcess, 'ref' | 'unref'>>[] {
  const { stdin, stdout, channel } = child
  return [child, stdin, stdout, channel].filter((part) => part !== null && part !== undefined) as readonly Partial<
    Pick<ChildProcess, 'ref' | 'unref'>
  >[]
}

function closeHandle(handle: unknown): void {
  const { close, destroy } = (handle ?? {}) as Partial<Server & Socket>
  if (destroy !== undefined) destroy.call(handle)
  else close?.call(handle)
}
