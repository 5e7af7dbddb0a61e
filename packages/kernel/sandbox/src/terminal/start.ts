import { randomUUID } from 'node:crypto'
import { closeSync, constants, fchmodSync, fchownSync, fstatSync, openSync } from 'node:fs'

import { WorkspaceError } from '@ws/core'
import { shortages, type Terminal } from '@ws/core/executor'

import { perl } from '../run/perl-helper.ts'
import { keepFromChildren } from '../run/descriptors.ts'
import { requireDescriptors, requireProcesses } from '../run/room.ts'
import { invalid } from '../errors.ts'
import { createOutputChannel } from '../run/output-channel.ts'
import { holderScript, readName } from './holder.ts'
import { loadLibrary, type Pseudoterminal } from './load.ts'
import { createMarkFilter } from './marks.ts'
import { createWriter } from './writer.ts'
import { sendSignal } from '../run/tree/end.ts'
import { listProcesses } from '../run/tree/stat.ts'

export interface StartTerminalOptions {
  /** Characters, 1 to 65,535. */
  readonly columns: number
  readonly rows: number
  /** As root: the owner of commands, which can then open the terminal by name (`/dev/stdin`). */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined
  readonly signal?: AbortSignal | undefined
}

/** A pseudoterminal whose slave side is for a command: see {@link terminalCommand}. */
export interface TerminalDevice extends AsyncDisposable {
  /** The slave's descriptor in this process, to pass to the command. */
  readonly descriptor: number
  /** Output for one reader. A slow reader slows the program. Without a reader, the oldest part is dropped. */
  readonly output: AsyncIterable<Uint8Array>
  /** The mark that the shell prints after its start-up files. It is removed from the output. */
  readonly startMark: string
  /** Call this when the shell will print the mark. */
  expectStart(): void
  /** Bytes of output before {@link startMark}; `undefined` until the mark arrives. */
  readonly startOffset: number | undefined
  /** Call this when the command has started with its own copy of the descriptor. */
  releaseDescriptor(): void
  write: Terminal['write']
  /** Sets the size, and sends SIGWINCH to the program. Returns false if the terminal is closed. */
  resize(columns: number, rows: number): boolean
  /** Sends a signal to the foreground, as keys do. SIGHUP goes to all processes on the terminal. */
  signal(name: NodeJS.Signals): boolean
  /** Call this when the command has ended. Resolves when all its output has been read. */
  finish(): Promise<void>
}

const prctlNumber = process.arch === 'arm64' ? 167 : 157
const startTimeout = 10_000
/** Milliseconds within which the holder's mark must arrive, after all other writers have ended. */
const finishTimeout = 2_000
const longestSide = 65_535
/** Number of descriptors for both sides of a terminal, in the library and here. */
const terminalDescriptors = 6

/** @throws WorkspaceError `EINVAL` for a bad size, `ENOTSUP` without library or perl, `ENOEXEC` if no terminal is left */
export async function startTerminal(options: StartTerminalOptions): Promise<TerminalDevice> {
  checkSize(options)
  options.signal?.throwIfAborted()
  const library = await loadLibrary()
  options.signal?.throwIfAborted()
  const mark = `\u001b]${randomUUID()}\u0007`
  const { columns: cols, rows } = options
  let pty: Pseudoterminal
  try {
    requireDescriptors(terminalDescriptors)
    requireProcesses()
    const parameters = ['-e', holderScript, '--', String(process.pid), mark, String(prctlNumber)]
    pty = library.spawn(perl, parameters, { cols, rows, cwd: '/', env: {}, encoding: null })
  } catch (native) {
    throw noTerminal(native)
  }
  // Children would inherit the library's descriptor, and could then read and write this session.
  const forget = keepFromChildren(pty.fd)
  const device = createTerminal(pty, mark, forget)
  try {
    device.open(await device.named, options.owner)
    return device
  } catch (error) {
    pty.kill('SIGKILL')
    await device.closed
    throw error
  }
}

function createTerminal(pty: Pseudoterminal, mark: string, forget: () => void) {
  const channel = createOutputChannel()
  const writer = createWriter(pty.fd)
  let slave: { readonly descriptor: number; readonly device: number; open: boolean } | undefined
  let ended = false
  let head: Buffer | undefined = Buffer.alloc(0)
  const marks = createMarkFilter()
  let settleName: { resolve(name: string): void; reject(error: unknown): void } | undefined
  const named = new Promise<string>((resolve, reject) => (settleName = { resolve, reject }))
  const timer = setTimeout(() => settleName?.reject(noTerminal()), startTimeout)
  const onClosed = { resolve: () => {} }
  const closed = new Promise<void>((resolve) => (onClosed.resolve = resolve))
  const onMark = { resolve: () => {} }
  const marked = new Promise<void>((resolve) => (onMark.resolve = resolve))
  const startMark = `\u001b]${randomUUID()}\u0007`
  let startOffset: number | undefined

  let held: Promise<void> | undefined
  let received = 0
  let delivered = 0
  let whole = Number.POSITIVE_INFINITY

  const deliver = (all: Buffer) => {
    const bytes = all.subarray(0, whole - delivered)
    delivered += bytes.length
    if (bytes.length === 0) return
    const pending = channel.push(bytes)
    if (!(pending instanceof Promise)) return
    pty.pause()
    const goOn = () => {
      held = undefined
      if (!ended) pty.resume()
    }
    held = pending.then(goOn, goOn)
  }
  pty.onData((data: string | Buffer) => {
    const chunk = Buffer.from(data as Buffer)
    received += chunk.length
    if (head !== undefined) {
      head = Buffer.concat([head, chunk])
      const name = readName(head.toString('latin1'), mark)
      if (name === undefined) return
      clearTimeout(timer)
      head = undefined
      settleName?.resolve(name)
      return
    }
    deliver(marks.push(chunk))
  })
  pty.onExit(() => {
    ended = true
    writer.close()
    forget()
    clearTimeout(timer)
    settleName?.reject(noTerminal())
    deliver(marks.end())
    channel.end()
    onClosed.resolve()
  })

  const releaseDescriptor = () => {
    if (!slave?.open) return
    slave.open = false
    closeSync(slave.descriptor)
  }
  const end = async () => {
    releaseDescriptor()
    writer.close()
    if (!ended) pty.kill('SIGKILL')
    await closed
  }
  return {
    named,
    closed,
    output: channel.output,
    startMark,
    get startOffset() {
      return startOffset
    },
    get descriptor() {
      if (slave === undefined) throw new Error('a terminal that is not open')
      return slave.descriptor
    },
    expectStart: () => marks.expect(startMark, (offset) => (startOffset = offset)),
    open(name: string, owner: StartTerminalOptions['owner']): void {
      const descriptor = openSync(name, constants.O_RDWR | constants.O_NOCTTY)
      slave = { descriptor, device: fstatSync(descriptor).rdev, open: true }
      if (owner !== undefined && process.getuid?.() === 0) fchownSync(descriptor, owner.uid, owner.gid)
      fchmodSync(descriptor, 0o600)
    },
    releaseDescriptor,
    write: writer.write,
    resize(columns: number, rows: number): boolean {
      checkSize({ columns, rows })
      if (ended) return false
      pty.resize(columns, rows)
      return true
    },
    signal: (name: NodeJS.Signals) => !ended && slave !== undefined && signalTerminal(slave.device, name),
    async finish(): Promise<void> {
      releaseDescriptor()
      marks.expect(mark, (offset) => {
        whole = offset
        onMark.resolve()
      })
      if (!ended) pty.kill('SIGUSR1')
      const read = Promise.race([marked, closed]).then(() => true)
      for (;;) {
        await held
        const before = received
        // The mark cannot arrive: Ctrl-S has stopped the output, or a survivor floods it.
        if (await settlesWithin(read, finishTimeout)) break
        if (held === undefined && received === before) break
      }
      await end()
    },
    [Symbol.asyncDispose]: end,
  }
}

async function settlesWithin(promise: Promise<boolean>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)))
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

export function checkSize({ columns, rows }: { readonly columns: number; readonly rows: number }): void {
  for (const [name, value] of Object.entries({ columns, rows })) {
    if (Number.isInteger(value) && value >= 1 && value <= longestSide) continue
    throw invalid('openSession', `\`${name}\` must be a whole number from 1 to ${longestSide}`, 'pass 80 and 24')
  }
}

function noTerminal(native?: unknown): WorkspaceError {
  const shortage = shortages.of(native)
  if (shortage !== undefined) return shortages.refusal(shortage, { operation: 'openSession', native })
  return new WorkspaceError({
    code: 'ENOEXEC',
    operation: 'openSession',
    reason: 'the system gave no terminal',
    remedy: 'install perl-base, and look whether /dev/pts is mounted and has terminals left (`kernel.pty.max`)',
    ...(native === undefined ? {} : { native }),
  })
}

/** Signals the foreground, or with SIGHUP all but the session's leader. `device`: the slave's `st_rdev`. False if no process got it. */
function signalTerminal(device: number, signal: NodeJS.Signals): boolean {
  const members = listProcesses().filter(({ terminal }) => terminal === device)
  if (signal === 'SIGHUP') {
    const others = members.filter(({ pid, session }) => pid !== session)
    return others.map(({ pid }) => sendSignal(pid, signal) && sendSignal(pid, 'SIGCONT')).some(Boolean)
  }
  const foreground = members[0]?.foreground ?? 0
  // 0 would mean this process's own group; -1 means that the terminal has no foreground group.
  return foreground > 1 && sendSignal(-foreground, signal)
}
