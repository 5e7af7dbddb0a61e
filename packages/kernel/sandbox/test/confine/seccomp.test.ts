import { describe, expect, it } from 'vitest'
import { sandboxProgram } from '../../src/confine/seccomp/programs.ts'
import { evaluate } from './support/bpf.ts'

const machines = {
  x64: { architecture: 0xc000003e, foreign: 0x40000003 },
  arm64: { architecture: 0xc00000b7, foreign: 0x40000028 },
} as const
const EPERM = 1
const ENOSYS = 38
const ENOTSUP = 95
const EAFNOSUPPORT = 97

// Numbers are written out here once more, from the kernel's tables, so that a slip in the program's own is seen.
const numbers = {
  x64: {
    read: 0,
    clone: 56,
    clone3: 435,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    mount: 165,
    ptrace: 101,
    fchmod: 91,
    fchmodat: 268,
    openat: 257,
    mknodat: 259,
    mkdirat: 258,
    statx: 332,
    execve: 59,
    execveat: 322,
    unshare: 272,
    bpf: 321,
    openat2: 437,
    process_vm_readv: 310,
    keyctl: 250,
    setns: 308,
    fchmodat2: 452,
    setxattr: 188,
    lgetxattr: 192,
    flistxattr: 196,
    fremovexattr: 199,
    listxattrat: 465,
    getxattr: 191,
    file_setattr: 469,
    renameat2: 316,
    shmget: 29,
    shmat: 30,
    shmctl: 31,
    semget: 64,
    semop: 65,
    semctl: 66,
    semtimedop: 220,
    msgget: 68,
    msgsnd: 69,
    msgrcv: 70,
    msgctl: 71,
    mq_open: 240,
    mq_unlink: 241,
  },
  arm64: {
    read: 63,
    clone: 220,
    clone3: 435,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    mount: 40,
    ptrace: 117,
    fchmod: 52,
    fchmodat: 53,
    openat: 56,
    mknodat: 33,
    mkdirat: 34,
    statx: 291,
    execve: 221,
    execveat: 281,
    unshare: 97,
    bpf: 280,
    openat2: 437,
    process_vm_readv: 270,
    keyctl: 219,
    setns: 268,
    fchmodat2: 452,
    setxattr: 5,
    lgetxattr: 9,
    flistxattr: 13,
    fremovexattr: 16,
    listxattrat: 465,
    getxattr: 8,
    file_setattr: 469,
    renameat2: 276,
    shmget: 194,
    shmat: 196,
    shmctl: 195,
    semget: 190,
    semop: 193,
    semctl: 191,
    semtimedop: 192,
    msgget: 186,
    msgsnd: 189,
    msgrcv: 188,
    msgctl: 187,
    mq_open: 180,
    mq_unlink: 181,
  },
} as const

describe.each(['x64', 'arm64'] as const)('the sandbox program on %s', (architecture) => {
  const program = sandboxProgram({ architecture })
  const number = numbers[architecture]
  const ask = (name: keyof typeof number, ...parameters: number[]) =>
    evaluate(program, {
      architecture: machines[architecture].architecture,
      number: number[name],
      arguments: parameters,
    })

  it('lets ordinary calls through', () => {
    for (const name of ['read', 'execve', 'execveat', 'statx'] as const) expect(ask(name)).toBe('allow')
    expect(ask('clone', 0x1200011)).toBe('allow')
    expect(ask('clone', 0x3d0f00)).toBe('allow') // a thread
    expect(ask('ioctl', 0, 0x5401)).toBe('allow')
  })

  it('refuses administration and other processes', () => {
    for (const name of ['mount', 'unshare', 'setns', 'bpf', 'keyctl', 'ptrace', 'process_vm_readv'] as const)
      expect(ask(name), name).toBe(EPERM)
  })

  it('refuses every new namespace, and hides clone3', () => {
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      expect(ask('clone', flag | 17)).toBe(EPERM)
    expect(ask('clone3')).toBe(ENOSYS)
  })

  it('refuses a child that a tracer would not see', () => {
    expect(ask('clone', 0x800000 | 17)).toBe(EPERM)
  })

  it('answers ENOSYS to calls whose arguments it cannot see', () => {
    expect(ask('openat2')).toBe(ENOSYS)
    for (const ring of [425, 426, 427])
      expect(evaluate(program, { architecture: machines[architecture].architecture, number: ring })).toBe(ENOSYS)
  })

  it('[HO4] answers ENOSYS to calls that take from a count of the machine or the user', () => {
    const [aio, fanotify] = architecture === 'x64' ? [206, 300] : [0, 262]
    for (const call of [aio, fanotify])
      expect(evaluate(program, { architecture: machines[architecture].architecture, number: call })).toBe(ENOSYS)
  })

  it('allows the four usual socket families only', () => {
    for (let family = 0; family < 50; family++)
      expect(ask('socket', family), String(family)).toBe([1, 2, 10, 16].includes(family) ? 'allow' : EAFNOSUPPORT)
  })

  it('can refuse Unix sockets, but for pairs that are connected to each other for good', () => {
    const without = sandboxProgram({ architecture, unixSockets: false })
    const askWithout = (name: keyof typeof number, ...parameters: number[]) =>
      evaluate(without, {
        architecture: machines[architecture].architecture,
        number: number[name],
        arguments: parameters,
      })
    const [stream, datagram, packets, closeOnExec] = [1, 2, 5, 0o2000000]
    for (const type of [stream, datagram, packets]) {
      expect(askWithout('socket', 1, type | closeOnExec)).toBe(EAFNOSUPPORT)
      expect(ask('socketpair', 1, type | closeOnExec)).toBe('allow')
    }
    for (const family of [2, 10, 16]) expect(askWithout('socket', family, stream)).toBe('allow')
    for (const type of [stream, packets]) expect(askWithout('socketpair', 1, type | closeOnExec)).toBe('allow')
    expect(askWithout('socketpair', 1, datagram | closeOnExec)).toBe(EAFNOSUPPORT)
    expect(askWithout('socketpair', 2, stream)).toBe(EAFNOSUPPORT)
  })

  it('refuses terminal injection, also with the upper half of the argument set', () => {
    for (const request of [0x5412, 0x541c, 0x1_0000_5412]) expect(ask('ioctl', 0, request)).toBe(EPERM)
  })

  it('refuses setuid and setgid bits wherever a mode is given', () => {
    for (const mode of [0o4755, 0o2755, 0o6755]) {
      expect(ask('fchmod', 3, mode)).toBe(EPERM)
      expect(ask('fchmodat', 3, 0, mode)).toBe(EPERM)
      expect(ask('fchmodat2', 3, 0, mode)).toBe(EPERM)
      expect(ask('mkdirat', 3, 0, mode)).toBe(EPERM)
      expect(ask('mknodat', 3, 0, mode)).toBe(EPERM)
      expect(ask('openat', 3, 0, 0o101, mode)).toBe(EPERM)
      expect(ask('openat', 3, 0, 0o20200002, mode)).toBe(EPERM)
      expect(ask('openat', 3, 0, 0, mode)).toBe('allow') // no file is made: the register holds anything
    }
    for (const mode of [0o755, 0o1777]) {
      expect(ask('fchmod', 3, mode)).toBe('allow')
      expect(ask('openat', 3, 0, 0o101, mode)).toBe('allow')
    }
  })

  if (architecture === 'x64')
    it('refuses them in the older calls of x64 as well', () => {
      const older = (call: number, ...parameters: number[]) =>
        evaluate(program, { architecture: machines.x64.architecture, number: call, arguments: parameters })
      const [open, mkdir, creat, chmod, mknod] = [2, 83, 85, 90, 133]
      for (const call of [mkdir, creat, chmod, mknod]) {
        expect(older(call, 0, 0o4755), String(call)).toBe(EPERM)
        expect(older(call, 0, 0o755), String(call)).toBe('allow')
      }
      expect(older(open, 0, 0o101, 0o4755)).toBe(EPERM)
    })

  it('refuses device nodes and allows FIFOs', () => {
    expect(ask('mknodat', 3, 0, 0o020644)).toBe(EPERM)
    expect(ask('mknodat', 3, 0, 0o060644)).toBe(EPERM)
    expect(ask('mknodat', 3, 0, 0o010644)).toBe('allow')
  })

  it('refuses the device that a renaming leaves behind as a whiteout, and no other renaming', () => {
    for (const flags of [4, 5]) expect(ask('renameat2', 3, 0, 3, 0, flags)).toBe(EPERM)
    for (const flags of [0, 1, 2]) expect(ask('renameat2', 3, 0, 3, 0, flags)).toBe('allow')
  })

  it('hides shared memory and message queues, unless commands have an IPC namespace of their own', () => {
    const own = sandboxProgram({ architecture, interprocess: true })
    const names = ['shmget', 'shmat', 'shmctl', 'semget', 'semop', 'semctl', 'semtimedop', 'msgget', 'msgsnd', 'msgrcv']
    for (const name of [...names, 'msgctl', 'mq_open', 'mq_unlink'] as (keyof typeof number)[]) {
      expect(ask(name), name).toBe(ENOSYS)
      const call = { architecture: machines[architecture].architecture, number: number[name] }
      expect(evaluate(own, call), name).toBe('allow')
    }
  })

  it('can refuse to change attributes and flags of files, and lets them be asked for', () => {
    const fixed = sandboxProgram({ architecture, attributeChanges: false })
    const askFixed = (name: keyof typeof number, ...parameters: number[]) =>
      evaluate(fixed, {
        architecture: machines[architecture].architecture,
        number: number[name],
        arguments: parameters,
      })
    for (const name of ['setxattr', 'fremovexattr', 'file_setattr'] as const) expect(askFixed(name), name).toBe(ENOTSUP)
    for (const name of ['getxattr', 'lgetxattr', 'flistxattr'] as const) expect(askFixed(name), name).toBe('allow')
    const changes = { setFlags: 0x40086602, setAttributes: 0x401c5820, setVersion: 0x40087602, subvolume: 0x5000940e }
    for (const [name, request] of Object.entries(changes)) {
      expect(askFixed('ioctl', 3, request), name).toBe(ENOTSUP)
      expect(ask('ioctl', 3, request), name).toBe('allow')
    }
    for (const request of [0x5401, 0x541b, 0x80086601, 0x801c581f, 0x40049409, 0xc020660b])
      expect(askFixed('ioctl', 3, request), request.toString(16)).toBe('allow')
    expect(askFixed('ioctl', 3, 0x5412)).toBe(EPERM)
  })

  it('answers ENOSYS to other architectures', () => {
    expect(evaluate(program, { architecture: machines[architecture].foreign, number: 3 })).toBe(ENOSYS)
    expect(evaluate(program, { architecture: machines[architecture].architecture, number: 0x40000000 })).toBe(ENOSYS)
    expect(evaluate(program, { architecture: machines[architecture].architecture, number: -1 })).toBe('allow')
  })

  it('lets extended attributes through, and says that there are none where they are not to be asked for', () => {
    const without = sandboxProgram({ architecture, extendedAttributes: false })
    for (const name of ['setxattr', 'lgetxattr', 'flistxattr', 'fremovexattr', 'listxattrat'] as const) {
      expect(ask(name), name).toBe('allow')
      const call = { architecture: machines[architecture].architecture, number: number[name] }
      expect(evaluate(without, call), name).toBe(ENOTSUP)
    }
  })

  it('with allowPtrace lets a tracer work, with forProot hides what that does not translate', () => {
    const nested = sandboxProgram({ architecture, allowPtrace: true, forProot: true })
    const askNested = (name: keyof typeof number) =>
      evaluate(nested, { architecture: machines[architecture].architecture, number: number[name] })
    expect([askNested('ptrace'), askNested('process_vm_readv')]).toEqual(['allow', 'allow'])
    expect([askNested('statx'), askNested('execveat'), askNested('fchmodat2')]).toEqual([ENOSYS, ENOSYS, ENOSYS])
    expect(askNested('mount')).toBe(EPERM)
  })
})
