import { readFileSync } from 'node:fs'

const tree = readFileSync(new URL('tree.pl', import.meta.url), 'utf8')
const spare = readFileSync(new URL('spare.pl', import.meta.url), 'utf8')
const supervisor = readFileSync(new URL('supervisor.pl', import.meta.url), 'utf8')

/** Process 1 of warm sandboxes, for `perl -e`: see `supervisor.pl`. */
export const supervisorScript = tree + spare + supervisor

/** Names of the system calls that the script makes. */
const calls = {
  x64: {
    capset: 126,
    chdir: 80,
    clone: 56,
    close: 3,
    dup3: 292,
    execve: 59,
    exit_group: 231,
    fcntl: 72,
    ioctl: 16,
    mkdirat: 258,
    mount: 165,
    openat: 257,
    pivot_root: 155,
    prctl: 157,
    read: 0,
    seccomp: 317,
    setsid: 112,
    umount2: 166,
    write: 1,
    nofollow: 0o400000,
  },
  arm64: {
    capset: 91,
    chdir: 49,
    clone: 220,
    close: 57,
    dup3: 24,
    execve: 221,
    exit_group: 94,
    fcntl: 25,
    ioctl: 29,
    mkdirat: 34,
    mount: 40,
    openat: 56,
    pivot_root: 41,
    prctl: 167,
    read: 63,
    seccomp: 277,
    setsid: 157,
    umount2: 39,
    write: 64,
    nofollow: 0o100000,
  },
} as const
/** Numbers that are equal on every architecture. */
const common = { close_range: 436, mount_setattr: 442, pidfd_open: 434 }

/** The first argument of the script; `undefined` on an unknown architecture. */
export function supervisorNumbers(architecture: string = process.arch): string | undefined {
  if (!Object.hasOwn(calls, architecture)) return undefined
  const table = { ...calls[architecture as 'x64'], ...common }
  return Object.entries(table)
    .map(([name, number]) => `${name}=${number}`)
    .join(',')
}
