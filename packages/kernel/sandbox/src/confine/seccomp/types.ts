export type SeccompArchitecture = 'x64' | 'arm64'

export interface SandboxProgramOptions {
  /** Allow `ptrace` and `process_vm_*`: needed where proot runs inside. Default false. */
  readonly allowPtrace?: boolean | undefined
  /** Also refuse calls that proot does not translate, with ENOSYS. Default false. */
  readonly forProot?: boolean | undefined
  /** Extended attributes can be read; else ENOTSUP. Default true. */
  readonly extendedAttributes?: boolean | undefined
  /** Extended attributes and flags can be changed; else ENOTSUP. Default true. */
  readonly attributeChanges?: boolean | undefined
  /** Unix sockets can be made; else only connected pairs, which cannot reach any address. Default true. */
  readonly unixSockets?: boolean | undefined
  /** Allow System V IPC and POSIX message queues: for commands in their own IPC namespace. Else ENOSYS. Default false. */
  readonly interprocess?: boolean | undefined
  /** Default: the architecture of this machine. */
  readonly architecture?: SeccompArchitecture | undefined
}
