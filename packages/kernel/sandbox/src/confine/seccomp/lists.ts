import type { SyscallName } from './syscalls.ts'

/** Calls whose paths proot does not translate. On ENOSYS, programs use other calls. No tracer sees operations of io_uring. */
export const untranslated: readonly SyscallName[] = [
  'statx',
  'openat2',
  'faccessat2',
  'fchmodat2',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'statmount',
  'listmount',
  'name_to_handle_at',
  'open_by_handle_at',
  'execveat',
  'setxattrat',
  'getxattrat',
  'listxattrat',
  'removexattrat',
  'file_getattr',
  'file_setattr',
]

/** Calls with arguments in memory, which the filter cannot read. On ENOSYS, programs use `openat` and `clone`. */
export const opaque: readonly SyscallName[] = [
  'clone3',
  'openat2',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
]

/**
 * Calls that use up a limit of the machine or of a user. On ENOSYS, programs use threads and inotify instead.
 * On EAGAIN, InnoDB would exit.
 */
export const counted: readonly SyscallName[] = ['io_setup', 'fanotify_init']

/** Calls for administration, calls with a large kernel attack surface, and calls that inspect other processes. */
export const refused: readonly SyscallName[] = [
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'unshare',
  'setns',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'keyctl',
  'add_key',
  'request_key',
  'swapon',
  'swapoff',
  'reboot',
  'acct',
  'quotactl',
  'quotactl_fd',
  'open_by_handle_at',
  'name_to_handle_at',
  'pidfd_getfd',
  'process_madvise',
  'kcmp',
  'syslog',
  'iopl',
  'ioperm',
]

/** Calls for named memory, semaphores and message queues, which belong to an IPC namespace. */
export const interprocess: readonly SyscallName[] = [
  'shmget',
  'shmat',
  'shmctl',
  'semget',
  'semop',
  'semtimedop',
  'semctl',
  'msgget',
  'msgsnd',
  'msgrcv',
  'msgctl',
  'mq_open',
  'mq_unlink',
]

/** Calls that change labels, access lists and flags. */
export const attributeChanges: readonly SyscallName[] = [
  'setxattr',
  'lsetxattr',
  'fsetxattr',
  'setxattrat',
  'removexattr',
  'lremovexattr',
  'fremovexattr',
  'removexattrat',
  'file_setattr',
]

/** Calls for extended attributes: labels, access lists, and attributes of programs. */
export const extendedAttributes: readonly SyscallName[] = [
  ...attributeChanges.filter((name) => name !== 'file_setattr'),
  'getxattr',
  'lgetxattr',
  'fgetxattr',
  'getxattrat',
  'listxattr',
  'llistxattr',
  'flistxattr',
  'listxattrat',
]

export const tracing: readonly SyscallName[] = ['ptrace', 'process_vm_readv', 'process_vm_writev']
