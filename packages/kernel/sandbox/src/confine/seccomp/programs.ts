import { WorkspaceError } from '@ws/core'
import { constants } from 'node:os'
import {
  allow,
  answer,
  assemble,
  ifAnyBit,
  ifAtLeast,
  ifEqual,
  type Instruction,
  loadArchitecture,
  loadArgument,
  loadNumber,
  mask,
  refuse,
  unlessEqual,
} from './assembler.ts'
import * as lists from './lists.ts'
import { auditArchitecture, type SyscallName, syscallNumber } from './syscalls.ts'
import type { SandboxProgramOptions, SeccompArchitecture } from './types.ts'

const { EPERM, ENOSYS, EAFNOSUPPORT, EOPNOTSUPP } = constants.errno

/**
 * Returns the filter of a sandbox. Refuses mounts, namespaces, modules, keys, foreign architectures, terminal injection, unusual sockets,
 * device nodes and setuid bits.
 *
 * @returns `struct sock_filter[]` for bubblewrap's `--seccomp FD`, 8 bytes each, little endian. The array is shared: do not change it
 * @throws WorkspaceError `ENOTSUP` on an architecture without a call table
 */
export function sandboxProgram(options: SandboxProgramOptions = {}): Uint8Array {
  const { architecture = ownArchitecture(), forProot = false, allowPtrace = false, interprocess = false } = options
  const { extendedAttributes = true, attributeChanges = true, unixSockets = true } = options
  const complete = { forProot, allowPtrace, interprocess, extendedAttributes, attributeChanges, unixSockets }
  const key = JSON.stringify([architecture, complete])
  const program = assembled.get(key) ?? assembleSandbox(architecture, complete)
  assembled.set(key, program)
  return program
}

/** Cached filters: all starts use the same few. */
const assembled = new Map<string, Uint8Array>()

function assembleSandbox(
  architecture: SeccompArchitecture,
  options: Omit<SandboxProgramOptions, 'architecture'>,
): Uint8Array {
  const call = (name: SyscallName, block: readonly Instruction[]) => onCall(name, architecture, block)
  return assemble([
    ...prologue(architecture),
    ...answerAll(options.extendedAttributes ? [] : lists.extendedAttributes, EOPNOTSUPP, architecture),
    ...answerAll(options.forProot ? lists.untranslated : [], ENOSYS, architecture), // @defence system calls that proot does not translate
    ...answerAll(options.attributeChanges ? [] : lists.attributeChanges, EOPNOTSUPP, architecture),
    ...answerAll(options.interprocess ? [] : lists.interprocess, ENOSYS, architecture), // @defence memory, semaphores and message queues of the host
    ...answerAll([...lists.opaque, ...lists.counted], ENOSYS, architecture), // @defence `, ...lists.counted` one command that takes all of a count of the machine: a count of the machine
    ...answerAll(lists.refused, EPERM, architecture), // @defence new namespaces, mounts, modules
    ...answerAll(options.allowPtrace ? [] : lists.tracing, EPERM, architecture),
    ...call('clone', refuseBits(0, newNamespaces | untracedChild)), // @defence new namespaces, mounts, modules
    ...call('socket', socketsOf(options.unixSockets ? [unixFamily, ...networkFamilies] : networkFamilies)),
    ...call('socketpair', options.unixSockets ? socketsOf([unixFamily]) : connectedPairs),
    ...call('ioctl', options.attributeChanges ? noTerminalInjection : [...noAttributeChanges, ...noTerminalInjection]),
    ...call('renameat2', refuseBits(4, renameWhiteout)), // @defence a setuid file or a device left for the host
    ...call('chmod', refuseBits(1, setIdBits)), // @defence a setuid file or a device left for the host
    ...call('fchmod', refuseBits(1, setIdBits)),
    ...call('fchmodat', refuseBits(2, setIdBits)),
    ...call('fchmodat2', refuseBits(2, setIdBits)),
    ...call('mkdir', refuseBits(1, setIdBits)),
    ...call('mkdirat', refuseBits(2, setIdBits)),
    ...call('mknod', noDevices(1)),
    ...call('mknodat', noDevices(2)),
    ...call('creat', refuseBits(1, setIdBits)),
    ...call('open', createsWithoutSetId(1)),
    ...call('openat', createsWithoutSetId(2)),
    answer(allow),
  ])
}

function ownArchitecture(): SeccompArchitecture {
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch
  throw new WorkspaceError({
    code: 'ENOTSUP',
    operation: 'seccomp',
    reason: `there is no system call table for ${process.arch}`,
    remedy: 'run on x64 or arm64',
  })
}

/** Refuses calls of a foreign architecture (32-bit, x32), because its call numbers differ. */
function prologue(architecture: SeccompArchitecture): Instruction[] {
  const native = auditArchitecture[architecture]
  const x32 = 0x40000000
  const cancelled = 0xffffffff // a tracer sets this number to cancel a call; the kernel then skips the call
  return [
    loadArchitecture(),
    ...unlessEqual(native, [answer(refuse(ENOSYS))]),
    loadNumber(),
    ...ifAtLeast(x32, unlessEqual(cancelled, [answer(refuse(ENOSYS))])),
  ]
}

/** Runs a block for one system call. The call number is loaded when the block starts. The block must end in a result. */
function onCall(name: SyscallName, architecture: SeccompArchitecture, block: readonly Instruction[]): Instruction[] {
  const number = syscallNumber(name, architecture)
  return number === undefined ? [] : ifEqual(number, block)
}

function answerAll(names: readonly SyscallName[], errno: number, architecture: SeccompArchitecture): Instruction[] {
  return names.flatMap((name) => onCall(name, architecture, [answer(refuse(errno))]))
}

function refuseBits(argument: number, bits: number): Instruction[] {
  return [loadArgument(argument), ...ifAnyBit(bits, [answer(refuse(EPERM))]), answer(allow)]
}

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (NEWTIME is a signal number to `clone`.) */
const newNamespaces = 0x7e020000
/** CLONE_UNTRACED: creates a child that the tracer of its parent (proot, the listing supervisor) would not see. */
const untracedChild = 0x00800000
const setIdBits = 0o6000

/** RENAME_WHITEOUT: leaves a character device at the old name. Overlay file systems mark deleted names with such devices. */
const renameWhiteout = 4

const unixFamily = 1
const networkFamilies = [2, 10, 16] // AF_INET, AF_INET6, AF_NETLINK
function socketsOf(families: readonly number[]): Instruction[] {
  const known = families.flatMap((family) => ifEqual(family, [answer(allow)]))
  return [loadArgument(0), ...known, answer(refuse(EAFNOSUPPORT))]
}

/** SOCK_STREAM, SOCK_SEQPACKET. Not SOCK_DGRAM: a socket of a datagram pair could still send to any address. */
const connectedTypes = [1, 5]
const connectedPairs = [
  loadArgument(1),
  mask(0xf), // drops the flags SOCK_CLOEXEC and SOCK_NONBLOCK
  ...connectedTypes.flatMap((type) => ifEqual(type, socketsOf([unixFamily]))),
  answer(refuse(EAFNOSUPPORT)),
]

const terminalInjection = [0x5412, 0x541c] // TIOCSTI, TIOCLINUX
const noTerminalInjection = [
  loadArgument(1),
  ...terminalInjection.flatMap((request) => ifEqual(request, [answer(refuse(EPERM))])),
  answer(allow),
]

/** Groups of file system requests: flags, versions, encryption, verity, btrfs. Harmless requests read, or need a writable descriptor. */
const fileSystemRequests = [0x6600, 0x5800, 0x7600, 0x9400]
const harmlessRequests = [
  ...[0x80086601, 0x80046601, 0x801c581f, 0x80087601, 0xc020660b], // FS_IOC_GETFLAGS (two), FSGETXATTR, GETVERSION, FIEMAP
  ...[0x40049409, 0x4020940d, 0xc0189436, 0x81009431], // FICLONE, FICLONERANGE, FIDEDUPERANGE, GETFSLABEL
]
const noAttributeChanges = [
  loadArgument(1),
  ...harmlessRequests.flatMap((request) => ifEqual(request, [answer(allow)])),
  mask(0xff00),
  ...fileSystemRequests.flatMap((type) => ifEqual(type, [answer(refuse(EOPNOTSUPP))])),
]

/** Refuses set-id bits, but only if the call creates a file. Otherwise, the mode's register may contain any value. */
function createsWithoutSetId(flagsArgument: number): Instruction[] {
  const creating = 0o100 | 0o20000000 // O_CREAT, O_TMPFILE
  return [loadArgument(flagsArgument), ...ifAnyBit(creating, refuseBits(flagsArgument + 1, setIdBits)), answer(allow)]
}

/** Refuses character and block devices. Allows files, sockets and FIFOs, since `mkfifo` is ordinary work. */
function noDevices(modeArgument: number): Instruction[] {
  const fileType = 0o170000
  const devices = [0o020000, 0o060000]
  return [
    loadArgument(modeArgument),
    ...ifAnyBit(setIdBits, [answer(refuse(EPERM))]),
    mask(fileType),
    ...devices.flatMap((type) => ifEqual(type, [answer(refuse(EPERM))])),
    answer(allow),
  ]
}
