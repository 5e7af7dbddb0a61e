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
import { extendedAttributes as attributeCalls, opaque, refused, tracing, untranslated } from './lists.ts'
import { auditArchitecture, type SyscallName, syscallNumber } from './syscalls.ts'
import type { SandboxProgramOptions, SeccompArchitecture } from './types.ts'

const { EPERM, ENOSYS, EAFNOSUPPORT, EOPNOTSUPP } = constants.errno

/**
 * The filter of a sandbox: mounts, namespaces, modules, keys, foreign architectures, terminal injection, unusual
 * sockets, device nodes and setuid bits are refused.
 *
 * @returns `struct sock_filter[]`: 8 bytes per instruction, little endian; what bubblewrap's `--seccomp FD` reads. The
 * same bytes for the same options: not to be changed.
 * @throws WorkspaceError `ENOTSUP` on an architecture without a table.
 */
export function sandboxProgram(options: SandboxProgramOptions = {}): Uint8Array {
  const { architecture = ownArchitecture(), forProot = false, allowPtrace = false, extendedAttributes = true } = options
  const key = `${architecture} ${forProot} ${allowPtrace} ${extendedAttributes}`
  const program = assembled.get(key) ?? assembleSandbox(architecture, { forProot, allowPtrace, extendedAttributes })
  assembled.set(key, program)
  return program
}

/** The same ones are asked for at every start. */
const assembled = new Map<string, Uint8Array>()

function assembleSandbox(
  architecture: SeccompArchitecture,
  options: Omit<SandboxProgramOptions, 'architecture'>,
): Uint8Array {
  const call = (name: SyscallName, block: readonly Instruction[]) => onCall(name, architecture, block)
  return assemble([
    ...prologue(architecture),
    ...answerAll(options.extendedAttributes ? [] : attributeCalls, EOPNOTSUPP, architecture),
    ...answerAll(options.forProot ? untranslated : [], ENOSYS, architecture),
    ...answerAll(opaque, ENOSYS, architecture),
    ...answerAll(refused, EPERM, architecture),
    ...answerAll(options.allowPtrace ? [] : tracing, EPERM, architecture),
    ...call('clone', refuseBits(0, newNamespaces)),
    ...call('socket', commonSocketsOnly),
    ...call('socketpair', commonSocketsOnly),
    ...call('ioctl', noTerminalInjection),
    ...call('chmod', refuseBits(1, setIdBits)),
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

/** Numbers mean something else in another architecture (32-bit calls, x32): none of those is let through. */
function prologue(architecture: SeccompArchitecture): Instruction[] {
  const native = auditArchitecture[architecture]
  const x32 = 0x40000000
  const cancelled = 0xffffffff // a tracer's "make no call", which the kernel answers by itself
  return [
    loadArchitecture(),
    ...unlessEqual(native, [answer(refuse(ENOSYS))]),
    loadNumber(),
    ...ifAtLeast(x32, unlessEqual(cancelled, [answer(refuse(ENOSYS))])),
  ]
}

/** Blocks start with the number loaded, and must end in an answer, since they may load something else. */
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
const setIdBits = 0o6000

const commonFamilies = [1, 2, 10, 16] // AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
const commonSocketsOnly = [
  loadArgument(0),
  ...commonFamilies.flatMap((family) => ifEqual(family, [answer(allow)])),
  answer(refuse(EAFNOSUPPORT)),
]

const terminalInjection = [0x5412, 0x541c] // TIOCSTI, TIOCLINUX
const noTerminalInjection = [
  loadArgument(1),
  ...terminalInjection.flatMap((request) => ifEqual(request, [answer(refuse(EPERM))])),
  answer(allow),
]

/** The mode counts only where a file is created: elsewhere the register holds anything. */
function createsWithoutSetId(flagsArgument: number): Instruction[] {
  const creating = 0o100 | 0o20000000 // O_CREAT, O_TMPFILE
  return [loadArgument(flagsArgument), ...ifAnyBit(creating, refuseBits(flagsArgument + 1, setIdBits)), answer(allow)]
}

/** Files, FIFOs and sockets may be made (`mkfifo` is ordinary work), character and block devices may not. */
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
