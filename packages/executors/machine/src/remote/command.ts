import { Writable } from 'node:stream'
import { callbackify } from 'node:util'

import { isWorkspaceError } from '@ws/core'
import { execError, type CommandRequest, type KillSignal } from '@ws/core/executor'
import { type CommandDriver, type CommandEnd, commandLine, type CommandPort, type CommandRun } from '@ws/sandbox'
import { type PreparedCommand, resolveShell } from '@ws/sandbox'

import type { Machine, MachineInput } from '../contract.ts'
import { orAborted } from '../or-aborted.ts'
import type { Refusal } from './base.ts'
import { Call, refusal } from './call.ts'
import type { Copies } from './copies.ts'
import { textFrom } from './text-from.ts'

export interface CommandsOptions {
  readonly name: string
  readonly machine: Machine
  readonly copies: Copies
  /** The shell on the machine, for commands that name none. */
  readonly shell: string
  readonly onClose: () => Promise<void>
}

/** A command that runs on the machine already. */
interface Prepared extends PreparedCommand {
  readonly running: Running
}

/** Limit of bytes of a command in an argument, together with this package's program. */
const longestArgument = 32_768

/** Milliseconds for fetching an ended command's changes. */
const patience = 600_000

/** Runs each command on the machine, on a copy of the workspace that is brought up to date when the command starts. */
export function commandsOn({ name, machine, copies, shell, onClose }: CommandsOptions): CommandDriver {
  return {
    patience,
    async prepare(_plan, request): Promise<Prepared> {
      // checks only the shell's name, since its program is on the machine
      if (request.shell !== undefined)
        resolveShell({ shell: request.shell, existsInView: () => true, isExecutable: () => true })
      const site = { name, machine, copies, shell }
      return { running: await orAborted(begin(site, request), request.signal) }
    },
    start: (prepared, run) => Promise.resolve(portOf((prepared as Prepared).running, run)),
    explainFailure: ({ lost: isLost }) => (isLost === true ? lostCommand(name) : undefined),
    close: async () => {
      await copies.close()
      await onClose()
    },
  }
}

/** How the input gets to the machine. Input that is known before the start needs no stream. */
function inputOf({ stdin }: CommandRequest, { hasInput }: Machine): ['none' | 'file' | 'stream', Uint8Array?] {
  if (stdin === undefined) return ['none']
  if (typeof stdin === 'string' || stdin instanceof Uint8Array) return ['file', Buffer.from(stdin)]
  if (hasInput) return ['stream']
  throw execError('ENOTSUP', 'the machine gives its processes no input while they run', {
    remedy: 'give `stdin` as text or bytes',
  })
}

function argumentsOf(request: CommandRequest, shell: string) {
  const { argv, extraFds } = commandLine(request, { shell, env: {} })
  const described = extraFds.get(9)
  if (described instanceof Uint8Array) return { argv, text: 'descriptor' as const, bytes: described }
  const last = Buffer.from(argv.at(-1) ?? '')
  if (last.length > longestArgument) return { argv: argv.slice(0, -1), text: 'argument' as const, bytes: last }
  return { argv, text: 'none' as const }
}

type Site = Omit<CommandsOptions, 'onClose'>

/** Brings files and command to the machine, and waits until the command runs. A large workspace may take minutes. */
async function begin(site: Site, request: CommandRequest): Promise<Running> {
  const { machine, copies } = site
  const { cwd, env, signal } = request
  const [input, bytes] = inputOf(request, machine)
  const { argv, text, bytes: long } = argumentsOf(request, request.shell ?? site.shell)
  const unlock = await copies.lock(signal)
  let call: Call | undefined
  const stop = () => void call?.kill()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const sending = await copies.bring(signal, { input: bytes, text: long })
    const order = { ...sending.order, command: { cwd, input, text, variables: Object.keys(env).length } }
    signal?.throwIfAborted()
    copies.send(sending)
    call = await Call.start(machine, order, { argv, env, hasInput: input === 'stream' })
    const message = await call.message()
    if (message === undefined) throw unknownStart(machine.name)
    if (message[0] !== 'go') throw refused(message, copies)
    const { changes, session } = await call.begun(message)
    signal?.throwIfAborted()
    copies.took(sending, changes, message[1] === '1')
    return { ...site, call, session, epoch: copies.epoch, isStream: input === 'stream' }
  } catch (error) {
    await call?.kill()
    signal?.throwIfAborted()
    throw isWorkspaceError(error) ? error : unknownStart(machine.name, error)
  } finally {
    signal?.removeEventListener('abort', stop)
    unlock()
  }
}

/** The error for a machine that did not start the command. */
function refused(message: readonly string[], copies: Copies) {
  const [word, , isFull] = message
  if (word === 'moved' && isFull === undefined) copies.forget()
  const again = word === 'stale' || (word === 'moved' && isFull === undefined)
  return again ? execError('EBUSY', 'the machine’s files kept changing', { remedy: 'try again' }) : refusal(message)
}

interface Running extends Site {
  readonly call: Call
  /** The number of the command's session on the machine. */
  readonly session: string
  readonly epoch: number
  readonly isStream: boolean
}

function portOf(running: Running, run: CommandRun): CommandPort {
  const { machine, call, session, isStream } = running
  let isKilled = false
  const killed = { by: undefined as KillSignal | undefined }
  /** Signals the command's session. The machine ends everything where the session cannot be reached. Never rejects. */
  const signal = async (name: KillSignal): Promise<void> => {
    killed.by ??= name
    const line = `kill -s ${name.slice(3)} -- -${session} 2>/dev/null || echo no`
    const answer = await textFrom(machine, ['sh', '-c', line]).catch(() => 'no')
    if (!answer.startsWith('no')) return
    killed.by = 'SIGKILL'
    isKilled = true
    await call.kill()
  }
  return {
    stdin: run.hasInput ? writableOf(isStream ? call.process.stdin : undefined) : undefined,
    signal(name, whom) {
      if (isKilled) return false
      void signal(name)
      return whom !== undefined
    },
    end: () => void signal('SIGKILL'),
    exited: follow(running, run, killed),
  }
}

async function follow(
  { name, call, copies, epoch }: Running,
  { onStdout, onStderr }: CommandRun,
  killed: { readonly by: KillSignal | undefined },
): Promise<CommandEnd> {
  const errors = call.stderr.until(call.marker, onStderr)
  const message = await call.message(onStdout).catch(() => undefined) // the end is unknown then
  const isOver = ['end', 'moved', 'unlisted'].includes(message?.[0] ?? '')
  if (isOver) await errors
  const unlock = await copies.lock()
  const refusals: Refusal[] = []
  try {
    refusals.push(...(await changesOf(message ?? [], { call, copies, epoch })))
  } catch (error) {
    if (!isOver && killed.by === undefined) return { lost: true }
    throw unfetched(name, isOver ? `status ${message?.[1]}` : (killed.by ?? ''), error)
  } finally {
    unlock()
    await call.kill()
  }
  await errors.catch(() => undefined) // the end says more
  for (const one of refusals) await onStderr(Buffer.from(sentence(name, one)))
  const status = Number(message?.[1])
  if (isOver && !Number.isNaN(status)) return { shellStatus: status === 0 && refusals.length > 0 ? 1 : status }
  return killed.by === undefined ? { lost: true } : { signal: killed.by }
}

/** Writes a command's changes into the workspace. */
async function changesOf(
  message: readonly string[],
  { call, copies, epoch }: Pick<Running, 'call' | 'copies' | 'epoch'>,
): Promise<readonly Refusal[]> {
  if (message[0] === 'moved') {
    copies.forget()
    return [{ path: '/', reason: 'is no longer a directory on the machine; the workspace keeps its files' }]
  }
  // another exchange may have brought newer states of the same files
  if (message[0] === 'end' && copies.epoch === epoch && message[2] === '0') {
    try {
      const { changes, contents } = await call.ended(message)
      const refusals = await copies.take(changes, contents)
      if (refusals !== undefined) return refusals
    } catch {
      copies.expectChanges() // fetched below
    }
  }
  return await copies.fetch()
}

const sentence = (name: string, { path, reason }: Refusal): string =>
  `${name}: the change of \`${path}\` was not made in the workspace: it ${reason}\n`

/** The input of a process. Without one, the bytes are on the machine already. */
function writableOf(input: MachineInput | undefined): Writable {
  const write = callbackify(async (chunk: Buffer) => await input?.write(chunk))
  const final = callbackify(async () => await input?.end())
  return new Writable({ write: (chunk: Buffer, _encoding, done) => write(chunk, done), final })
}

const next = 'look at the machine; the next command fetches the changes that are there'

/** The errors of a machine that is lost. The workspace has whole files only. */
const unknownStart = (name: string, native?: unknown) =>
  execError('EIO', `the connection to ${name} was lost at the command’s start; it may have run there`, {
    remedy: next,
    native,
  })

const lostCommand = (name: string) =>
  execError('EIO', `the connection to ${name} was lost before the command ended; it may still run there`, {
    remedy: next,
  })

const unfetched = (name: string, end: string, native: unknown) =>
  execError('EIO', `the command ended with ${end}, but not all of its changes have come from ${name}`, {
    remedy: next,
    native,
  })
