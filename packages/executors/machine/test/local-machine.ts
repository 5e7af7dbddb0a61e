import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chown } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'

import type { Machine, MachineProcess, MachineStart } from '@ws/executor-machine'

export interface LocalMachineOptions {
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
  /** Milliseconds of a round trip: before each call, and half of them before each chunk of a stream. */
  readonly latency?: number
  readonly hasInput?: boolean
  /** True: output passes through strings of UTF-8, as in the SDKs of some sandboxes. */
  readonly isText?: boolean
  /** Variables of the machine. */
  readonly env?: Readonly<Record<string, string>>
}

export interface LocalMachine extends Machine {
  /** The calls so far: `start` or `put`. */
  readonly calls: string[]
  /** Replaces a call by a fault. */
  faults: {
    start?:
      | ((
          argv: readonly string[],
          run: (argv?: readonly string[]) => Promise<MachineProcess>,
        ) => Promise<MachineProcess>)
      | undefined
    put?: ((content: AsyncIterable<Uint8Array>, run: Machine['put']) => AsyncIterable<Uint8Array>) | undefined
  }
  /** Bytes that came from programs. */
  received: number
}

/** A machine that is this one: its programs run here as an ordinary user, and share nothing else with the test. */
export function createLocalMachine({
  owner,
  latency = 0,
  hasInput = true,
  isText = false,
  env: own = {},
}: LocalMachineOptions = {}): LocalMachine {
  const calls: string[] = []
  const faults: LocalMachine['faults'] = {}
  const run = async (argv: readonly string[], { env, cwd, hasInput: isWanted = false, signal }: MachineStart) => {
    const [program = '', ...rest] = argv
    signal?.throwIfAborted()
    const child = spawn(program, rest, {
      cwd: cwd ?? '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...own, ...env },
      stdio: [isWanted ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
      ...owner,
    })
    await once(child, 'spawn')
    const ended = once(child, 'close') as Promise<[number | null, string | null]>
    const output = (stream: Readable | null): AsyncIterable<Uint8Array> => {
      stream?.on('data', (chunk: Uint8Array) => (machine.received += chunk.length))
      stream?.pause()
      const source = latency > 0 ? late(stream ?? Readable.from([]), latency / 2) : (stream ?? Readable.from([]))
      return isText ? asText(source) : source
    }
    const { stdin } = child
    stdin?.on('error', () => undefined)
    return {
      stdout: output(child.stdout),
      stderr: output(child.stderr),
      ...(stdin && {
        stdin: {
          write: async (bytes: Uint8Array) => {
            const sent = () =>
              new Promise<void>((resolve, reject) => stdin.write(bytes, (error) => (error ? reject(error) : resolve())))
            if (latency === 0) await sent()
            else setTimeout(() => void sent().catch(() => undefined), latency / 2)
          },
          end: async () => void setTimeout(() => stdin.end(), latency / 2),
        },
      }),
      async kill() {
        try {
          process.kill(-(child.pid ?? 0), 'SIGKILL')
        } catch {
          // it has ended
        }
      },
      wait: async () => (await ended)[0] ?? 137,
    }
  }
  const machine: LocalMachine = {
    name: 'local',
    hasInput,
    calls,
    faults,
    received: 0,
    async start(argv, options = {}) {
      calls.push('start')
      if (latency > 0) await delay(latency)
      return await (faults.start ? faults.start(argv, (other = argv) => run(other, options)) : run(argv, options))
    },
    async put(content, { path: at }) {
      calls.push('put')
      if (latency > 0) await delay(latency)
      await pipeline(Readable.from(faults.put ? faults.put(content, machine.put) : content), createWriteStream(at))
      if (owner !== undefined) await chown(at, owner.uid, owner.gid)
    },
  }
  return machine
}

/** Passes each chunk on some milliseconds after its arrival. */
async function* late(stream: Readable, delayed: number): AsyncGenerator<Uint8Array, undefined> {
  const arrivals: { readonly chunk: Uint8Array; readonly at: number }[] = []
  let wake: (() => void) | undefined
  let isOver = false
  stream.on('data', (chunk: Uint8Array) => {
    arrivals.push({ chunk, at: performance.now() + delayed })
    wake?.()
  })
  stream.on('close', () => {
    isOver = true
    wake?.()
  })
  isOver = stream.closed
  stream.resume()
  for (;;) {
    const next = arrivals.shift()
    if (next !== undefined) {
      const wait = next.at - performance.now()
      if (wait > 0) await delay(wait)
      yield next.chunk
    } else if (isOver) return undefined
    else await new Promise<void>((resolve) => (wake = resolve))
  }
}

async function* asText(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const decoder = new TextDecoder()
  for await (const chunk of stream) yield Buffer.from(decoder.decode(chunk, { stream: true }))
  return undefined
}
