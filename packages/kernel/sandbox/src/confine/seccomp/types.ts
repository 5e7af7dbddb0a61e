/** Architectures that a program can be made for, by their `process.arch` names. */
export type SeccompArchitecture = 'x64' | 'arm64'

export interface SandboxProgramOptions {
  /** Allow `ptrace` and `process_vm_*`: needed where proot runs inside. Default false. */
  readonly allowPtrace?: boolean | undefined
  /** Also answer ENOSYS to the system calls that proot does not translate: programs then use the ones it does. Default false. */
  readonly forProot?: boolean | undefined
  /** Extended attributes of files can be asked for; else that is ENOTSUP, as in a file system that has none. Default true. */
  readonly extendedAttributes?: boolean | undefined
  /** Extended attributes and flags of files can be changed; else that is ENOTSUP. Default true. */
  readonly attributeChanges?: boolean | undefined
  /** Unix sockets can be made; else only connected pairs, which cannot reach any address. Default true. */
  readonly unixSockets?: boolean | undefined
  /** Allow System V IPC and POSIX message queues: for commands in their own IPC namespace. Else ENOSYS. Default false. */
  readonly interprocess?: boolean | undefined
  /** Default: that of this machine. */
  readonly architecture?: SeccompArchitecture | undefined
}
