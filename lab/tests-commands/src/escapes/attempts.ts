import type { Guarantees } from '@ws/core/executor'

export interface Attempt {
  readonly name: string
  readonly field: Exclude<keyof Guarantees, 'apiRules'>
  /** The attempt succeeds only in a program that attacks a translation. `translated` gives no protection against such programs. */
  readonly fights?: true
  /** The machine's timing decides the attempt: a failure in one run proves nothing. */
  readonly luck?: true
  /** The attempt reaches a place in a mount that its maker shares. No guarantee covers that. */
  readonly shared?: true
  /** A shell command, which runs in every executor. Absent: a program makes the attempt. */
  readonly command?: (target: CommandTarget) => string
  /** After the command, the file API reads this path of the workspace. */
  readonly readBack?: string
}

export interface CommandTarget {
  readonly secret: string
  readonly at: (path: string) => string
}

const up = '../'.repeat(30)
const quote = (path: string): string => `'${path}'`

/** All attempts, in the order of the table. The programs print these names. */
export const attempts: readonly Attempt[] = [
  ...field('fileContent', [
    { name: 'absolute path', command: ({ secret }) => `cat ${quote(secret)}` },
    { name: '..', command: ({ secret }) => `cat ${quote(up + secret.slice(1))}` },
    { name: 'symbolic link', command: ({ secret }) => `ln -s ${quote(secret)} link; cat link` },
    {
      name: 'symbolic link made inside, read through the API',
      command: ({ secret }) => `ln -s ${quote(secret)} api-link`,
      readBack: 'api-link',
    },
    {
      name: 'link to a directory outside, read through the API',
      command: ({ secret }) => `ln -s ${quote(secret.slice(0, secret.lastIndexOf('/')))} api-directory`,
      readBack: 'api-directory/secret',
    },
    { name: 'hard link', command: ({ secret }) => `ln ${quote(secret)} hard; cat hard` },
    {
      name: 'hard link made inside, read through the API',
      command: ({ secret }) => `ln ${quote(secret)} api-hard`,
      readBack: 'api-hard',
    },
    { name: 'write by absolute path' },
    { name: '/proc/self/root' },
    { name: '/proc/1/root and cwd' },
    { name: 'cwd of another process' },
    { name: 'root of another process' },
    { name: 'descriptors of another process' },
    { name: 'openat2' },
    { name: 'io_uring' },
    { name: 'open_by_handle_at' },
    { name: '32-bit calls (int 0x80)' },
    { name: 'x32 calls' },
    { name: 'mount' },
    { name: 'unshare' },
    { name: 'clone into a namespace' },
    { name: 'mknod' },
    { name: 'whiteout' },
    { name: 'race: read', fights: true, luck: true },
    { name: 'without its tracer: read', fights: true, luck: true },
  ]),
  ...field('fileMetadata', [
    { name: 'stat' },
    { name: 'stat by ..' },
    { name: 'list' },
    { name: 'access' },
    { name: 'race: describe', fights: true, luck: true },
    { name: 'without its tracer: describe', fights: true, luck: true },
  ]),
  ...field('processes', [
    { name: 'memory of another process' },
    { name: 'environment of another process' },
    { name: 'secrets in the environment' },
    { name: 'ptrace' },
    { name: 'signals to the host' },
    { name: 'process numbers in use', fights: true },
    { name: '/proc/sys' },
    { name: 'setuid bit' },
    { name: 'TIOCSTI' },
    { name: 'System V shared memory' },
    { name: 'System V message queue' },
    { name: 'POSIX message queue' },
    { name: 'memory left behind' },
    { name: 'survives its command' },
    { name: 'io_setup' },
    { name: 'fanotify_init' },
  ]),
  ...field('sockets', [
    { name: 'abstract socket' },
    { name: 'socket with a path' },
    { name: 'datagram to a socket with a path' },
    { name: 'socket in the workspace', shared: true },
  ]),
  ...field('network', [{ name: 'TCP' }, { name: 'UDP' }, { name: 'vsock' }]),
  ...field('readOnlyMounts', [
    { name: 'write to a read-only mount', command: ({ at }) => `echo changed > ${at('stock/file')}` },
    { name: 'create in a read-only mount', command: ({ at }) => `echo changed > ${at('stock/new')}` },
    { name: 'remove from a read-only mount', command: ({ at }) => `rm -f ${at('stock/spare')}` },
    { name: 'extended attributes of a read-only mount' },
    { name: 'flags of a read-only mount' },
  ]),
  ...field('subtrees', [
    { name: 'write below a read-only rule', command: ({ at }) => `echo changed > ${at('kept/part/file')}` },
    {
      name: 'rename an ancestor, build it anew',
      command: ({ at }) =>
        `mv ${at('kept')} ${at('moved')}; mkdir -p ${at('kept/part')}; echo changed > ${at('kept/part/file')}`,
    },
  ]),
  ...field('deniedSubtrees', [
    { name: 'read below a deny rule', command: ({ at }) => `cat ${at('closed/part/file')}` },
    {
      name: 'rename an ancestor, then read',
      command: ({ at }) => `mv ${at('closed')} ${at('opened')}; cat ${at('opened/part/file')}`,
      fights: true,
    },
  ]),
]

function field(name: Attempt['field'], list: readonly Omit<Attempt, 'field'>[]): Attempt[] {
  return list.map((attempt) => ({ ...attempt, field: name }))
}
