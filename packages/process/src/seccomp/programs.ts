import type { SandboxProgramOptions, SeccompArchitecture } from './types.ts'

/**
 * The filter of a sandbox: mounts, namespaces, modules, keys, foreign architectures, terminal injection, unusual
 * sockets and setuid bits are refused.
 *
 * @returns `struct sock_filter[]`: 8 bytes per instruction, little endian; what bubblewrap's `--seccomp FD` reads.
 * @throws WorkspaceError `ENOTSUP` on an architecture without a table.
 */
export function sandboxProgram(_options: SandboxProgramOptions = {}): Uint8Array {
  throw new Error('not written yet')
}

/**
 * The filter under which proot is complete: ENOSYS for the system calls that it does not translate, so that programs
 * use the ones it does.
 */
export function prootProgram(_options: { readonly architecture?: SeccompArchitecture | undefined } = {}): Uint8Array {
  throw new Error('not written yet')
}
