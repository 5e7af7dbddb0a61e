import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

import { type BindPlan, type CommandRequest, execError, type Executor, noGuarantees } from '@ws/core/executor'
import { type CommandEnd, type CommandPort, type CommandRun, defineExecutor } from '@ws/sandbox'
import { type PreparedCommand, resolveShell } from '@ws/sandbox'

import type { FromMachine, ToMachine } from './machine.ts'

interface Prepared extends PreparedCommand {
  readonly plan: BindPlan
  readonly request: CommandRequest
}

/** Runs commands on a machine behind a socket. No process of them is here, no descriptor and no clock that both share. */
export function createSocketExecutor(port: number): Executor {
  return defineExecutor<number, true>({
    name: 'socket',
    kind: 'interpreter',
    probe: async () => ({ found: true }),
    guarantees: () => noGuarantees,
    attach: () => ({
      hasTerminals: 'own',
      async prepare(plan, request): Promise<Prepared> {
        if (request.shell !== undefined) resolveShell({ shell: request.shell })
        return { plan, request }
      },
      start: (prepared, run) => start(port, prepared as Prepared, run),
    }),
  })(port)
}

async function start(port: number, { plan, request }: Prepared, run: CommandRun): Promise<CommandPort> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.on('error', () => undefined) // it closes then
  const send = (message: ToMachine, done?: () => void) => socket.write(`${JSON.stringify(message)}\n`, () => done?.())
  const started = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<CommandEnd>()
  const lines = createInterface({ input: socket })
  lines.on('line', (line) => {
    const message = JSON.parse(line) as FromMachine
    if (message.type === 'started') started.resolve()
    else if (message.type === 'refused') started.reject(execError('ENOEXEC', message.reason))
    else if (message.type === 'stdout') void run.onStdout(Buffer.from(message.data, 'base64'))
    else if (message.type === 'stderr') void run.onStderr(Buffer.from(message.data, 'base64'))
    else exited.resolve(message.exitCode === null ? { signal: message.signal ?? '' } : { status: message.exitCode })
  })
  lines.once('close', () => {
    started.reject(new Error('the connection was lost'))
    exited.resolve({ lost: true })
  })
  const { command, cwd, env, login, bare, shell, killGrace, maxOutputBytes } = request
  const plain = { command, cwd, env, login, bare, shell, killGrace, maxOutputBytes }
  send({ type: 'start', request: plain, plan, hasInput: run.hasInput, terminal: run.terminal })
  await started.promise
  void exited.promise.then(() => socket.end())
  return {
    stdin: new Writable({
      write: (chunk: Buffer, _encoding, done) => void send({ type: 'input', data: chunk.toString('base64') }, done),
      final: (done) => void send({ type: 'input-end' }, done),
    }),
    signal: () => false,
    resize: (columns, rows) => send({ type: 'resize', columns, rows }),
    end: () => void send({ type: 'end' }),
    exited: exited.promise,
  }
}
