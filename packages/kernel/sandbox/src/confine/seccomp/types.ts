export type SeccompArchitecture = 'x64' | 'arm64'

export interface SandboxProgramOptions {
  /** Allow `ptrace` and `process_vm_*`, which proot needs inside the sandbox. Default false. */
  readonly allowPtrace?: boolean | undefined
  /** Also refuse, with ENOSYS, calls that proot does not translate. Default false. */
  readonly forProot?: boolean | undefined
  /** Allow reading extended attributes. False: ENOTSUP. Default true. */
  readonly extendedAttributes?: boolean | undefined
  /** Allow changing extended attributes and flags. False: ENOTSUP. Default true. */
  readonly attributeChanges?: boolean | undefined
  /** Allow Unix sockets. False: only connected pairs, which cannot send to an address. Default true. */
  readonly unixSockets?: boolean | undefined
  /** Allow System V IPC and POSIX message queues, for commands in their own IPC namespace. False: ENOSYS. Default false. */
  readonly interprocess?: boolean | undefined
  /** Default: the architecture of this machine. */
  readonly architecture?: SeccompArchitecture | undefined
}
