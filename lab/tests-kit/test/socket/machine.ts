import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'

import { paths } from '@ws/core'
import type { AttachedExecutor, BindPlan, CommandRequest, StartedCommand, Terminal } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { ordinaryOwner } from '@ws/test-fixtures'

/** Milliseconds by which everything is late that this machine says. */
const late = 80

interface Size {
  readonly columns: number
  readonly rows: number
}

export type ToMachine =
  | {
      readonly type: 'start'
      readonly request: CommandRequest
      readonly plan: BindPlan
      readonly hasInput: boolean
      readonly terminal?: Size | undefined
    }
  | ({ readonly type: 'resize' } & Size)
  | { readonly type: 'input'; readonly data: string }
  | { readonly type: 'input-end' | 'end' }

export type FromMachine =
  | { readonly type: 'started' }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'stdout'; readonly data: string }
  | { readonly type: 'stderr'; readonly data: string }
  | { readonly type: 'exited'; readonly exitCode: number | null; readonly signal: string | null }

/** A machine behind a socket, which runs one command for each connection. It knows no signal but the end of everything. */
export interface Machine extends AsyncDisposable {
  readonly port: number
  /** Cuts all connections. */
  loseConnections(): void
}

export async function openMachine(): Promise<Machine> {
  const executor = createBubblewrapExecutor()
  const attached = await executor.attach({ root: paths.root, owner: ordinaryOwner(), files: undefined as never })
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    serve(socket, attached)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const loseConnections = () => sockets.forEach((socket) => socket.destroy())
  return {
    port: (server.address() as AddressInfo).port,
    loseConnections,
    async [Symbol.asyncDispose]() {
      loseConnections()
      server.close()
      await attached.close()
    },
  }
}

function serve(socket: Socket, attached: AttachedExecutor): void {
  const send = (message: FromMachine) => setTimeout(() => socket.write(`${JSON.stringify(message)}\n`), late)
  const input = new PassThrough()
  input.on('error', () => undefined)
  let running: StartedCommand | Terminal | undefined
  let terminal: Terminal | undefined
  socket.once('close', () => running?.kill('SIGKILL'))
  createInterface({ input: socket }).on('line', (line) => {
    const message = JSON.parse(line) as ToMachine
    if (message.type === 'start') void start(message)
    else if (message.type === 'input' && !input.write(Buffer.from(message.data, 'base64'))) {
      socket.pause()
      input.once('drain', () => socket.resume())
    } else if (message.type === 'input-end') input.end()
    else if (message.type === 'resize') terminal?.resize(message.columns, message.rows)
    else if (message.type === 'end') running?.kill('SIGKILL')
  })

  async function start({
    request,
    plan,
    hasInput,
    terminal: size,
  }: Extract<ToMachine, { type: 'start' }>): Promise<void> {
    const read = async (type: 'stdout' | 'stderr', stream: AsyncIterable<Uint8Array>) => {
      for await (const chunk of stream) send({ type, data: Buffer.from(chunk).toString('base64') })
    }
    try {
      if (size !== undefined) {
        const opened = await attached.openTerminal?.({ ...request, ...size }, plan)
        if (opened === undefined) throw new Error('no terminals')
        running = terminal = opened
        send({ type: 'started' })
        void (async () => {
          for await (const chunk of input) await opened.write(chunk as Buffer)
        })().catch(() => undefined)
        await read('stdout', opened.output)
        const { exitCode, signal } = await opened.wait()
        send({ type: 'exited', exitCode, signal })
        return
      }
      const started = await attached.spawn(hasInput ? { ...request, stdin: input } : request, plan)
      running = started
      send({ type: 'started' })
      await Promise.all([read('stdout', started.stdout), read('stderr', started.stderr)])
      const { exitCode, signal } = await started.wait()
      send({ type: 'exited', exitCode, signal })
    } catch (error) {
      send({ type: 'refused', reason: String(error) })
    }
  }
}
