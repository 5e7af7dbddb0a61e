import { WorkspaceError } from '@ws/core'

/** The numbers of the system calls that the loader makes, by architecture. */
const byArchitecture: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: {
    write: 1,
    close: 3,
    rt_sigprocmask: 14,
    fcntl: 72,
    setgroups: 116,
    setresuid: 117,
    setresgid: 119,
    rt_sigtimedwait: 128,
    prctl: 157,
    clock_gettime: 228,
    openat: 257,
    prlimit64: 302,
  },
  arm64: {
    write: 64,
    close: 57,
    rt_sigprocmask: 135,
    fcntl: 25,
    setgroups: 159,
    setresuid: 147,
    setresgid: 149,
    rt_sigtimedwait: 137,
    prctl: 167,
    clock_gettime: 113,
    openat: 56,
    prlimit64: 261,
  },
}

/** Call numbers that are equal on every architecture. */
const common = { close_range: 436, landlock_create_ruleset: 444, landlock_add_rule: 445, landlock_restrict_self: 446 }

/** @throws WorkspaceError `ENOTSUP` on another architecture. */
export function loaderSyscalls(architecture: string = process.arch): Readonly<Record<string, number>> {
  const own = byArchitecture[architecture]
  if (own !== undefined) return { ...own, ...common }
  throw new WorkspaceError({
    code: 'ENOTSUP',
    operation: 'exec',
    reason: `there is no system call table for ${architecture}`,
    remedy: 'run on x64 or arm64',
  })
}
