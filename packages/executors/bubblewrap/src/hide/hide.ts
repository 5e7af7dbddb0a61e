import { existsSync, readFileSync } from 'node:fs'

import { howToInstall, Processes } from '@ws/sandbox'

/** A directory, and the names that listings of this directory omit. */
export interface HiddenNames {
  /** `device:inode` of the directory, in decimal. */
  readonly identity: string
  readonly names: readonly string[]
}

export interface HidingOptions {
  readonly hidden: HiddenNames
  /** The supervisor reads one byte from this descriptor before it starts the command. */
  readonly start: number
  readonly argv: readonly string[]
}

const filter = readFileSync(new URL('filter.pl', import.meta.url), 'utf8')
const supervisor = filter + readFileSync(new URL('hide.pl', import.meta.url), 'utf8')
const trace = readFileSync(new URL('trace.pl', import.meta.url), 'utf8')

/** The supervisor's exit status after it could not read the memory of a process that listed a directory. */
export const unreadableCaller = 77

/** Numbers of system calls. `registers` is the size of the registers; `result`, `number` and `instruction` are offsets in the registers. */
const numbers = {
  x64: {
    read: 0,
    close: 3,
    wait4: 61,
    getdents: 78,
    ptrace: 101,
    prctl: 157,
    getdents64: 217,
    vm_readv: 310,
    vm_writev: 311,
    seccomp: 317,
    statx: 332,
    architecture: 0xc000003e,
    registers: 216,
    result: 80,
    number: 120,
    at: 128,
    instruction: 2,
  },
  arm64: {
    read: 63,
    close: 57,
    wait4: 260,
    ptrace: 117,
    prctl: 167,
    getdents64: 61,
    vm_readv: 270,
    vm_writev: 271,
    seccomp: 277,
    statx: 291,
    architecture: 0xc00000b7,
    registers: 272,
    result: 0,
    number: 0, // the call number is in a register set of its own
    at: 256,
    instruction: 4,
  },
} as const
/** Numbers that are equal on every architecture. */
const common = { pidfd_open: 434, close_range: 436, pidfd_getfd: 438, unreadable: unreadableCaller }

/** The reason why this machine cannot hide names, if this can be found without a trial. */
export function hidingProblem(): { readonly reason: string; readonly remedy: string } | undefined {
  if (!Object.hasOwn(numbers, process.arch))
    return { reason: `there is no system call table for ${process.arch}`, remedy: 'run on x64 or arm64' }
  if (!existsSync(Processes.perl))
    return { reason: 'perl is not installed', remedy: `\`${howToInstall('perl-base')}\`` }
  return undefined
}

/**
 * Wraps a command: the command and its children list one directory without some names, see `hide.pl`. Call this from the main thread.
 * The wrapper exits with 0 when the command ends. If the wrapper ends otherwise, the kernel ends the command.
 */
export function hidingCommand({ hidden, start, argv }: HidingOptions): string[] {
  const { numbers: table, root, names } = listingTracer(hidden)
  return [Processes.perl, '-e', supervisor, String(process.pid), String(start), table, root, names, trace, ...argv]
}

export interface ListingTracer {
  /** `NAME=NUMBER,…`: numbers of system calls, and offsets of registers. */
  readonly numbers: string
  readonly root: string
  readonly names: string
  /** Defines `filter_listings` for the traced process, and `seize` for its tracer. */
  readonly filter: string
  /** Perl code that the tracer runs when the process is traced. */
  readonly trace: string
}

export function listingTracer(hidden: HiddenNames): ListingTracer {
  const calls: Readonly<Record<string, number>> | undefined = { ...numbers }[process.arch as 'x64']
  if (calls === undefined) throw new Error(`there is no system call table for ${process.arch}`)
  const table = Object.entries({ ...calls, ...common }).map(([name, number]) => `${name}=${number}`)
  const [device = '0', inode = '0'] = hidden.identity.split(':')
  return {
    numbers: table.join(','),
    root: `${majorMinor(BigInt(device))}:${inode}`,
    names: hidden.names.map((name) => Buffer.from(name).toString('hex')).join(','),
    filter,
    trace,
  }
}

function majorMinor(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n)
  return `${major}:${minor}`
}
