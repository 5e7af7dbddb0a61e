import { howToInstall } from '@ws/sandbox'
import { execError, shortages } from '@ws/core/executor'
import type { WorkspaceError } from '@ws/core'

/** The reason why bubblewrap did not start a command. The message of bubblewrap itself is for operators only. */
export interface StartFailure {
  readonly reason: string
  readonly remedy?: string | undefined
  /** True if a path changed while the sandbox was built: the caller should try again. */
  readonly changed?: true | undefined
}

/** Names all three settings: a container's filter refuses first, and a missing second or third setting would make the next start fail. */
const inContainer =
  'in a container, start that with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined --security-opt apparmor=unconfined`'
const noNamespaces = [
  'allow unprivileged user namespaces: `sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000`',
  inContainer,
]

/** bubblewrap's messages about a path that it could not make or bind. */
const placing =
  "Can't (?:find source path|create file at|mkdir|get type of source|stat mount at|bind mount|create tmpfs|mount tmpfs)|remount"
const because = (errors: string): RegExp => new RegExp(`(?:${placing})[^\\n]*: (?:${errors})`)

const known: readonly (readonly [RegExp, StartFailure])[] = [
  [
    because('Permission denied'),
    {
      reason: 'the user that commands run as may not pass through a directory above a bound one',
      remedy:
        'give the directories above the mounts, the tools and the state directory the mode 0711, or set another `owner`',
    },
  ],
  [
    because('No space left on device|Disk quota exceeded'),
    { reason: 'there is no space left for the places of the sandbox', remedy: 'free some space or inodes' },
  ],
  [
    because('Too many open files|Cannot allocate memory'),
    { reason: 'the machine has no descriptors or memory left for it', remedy: 'run fewer commands at a time' },
  ],
  [
    because('Read-only file system'),
    { reason: 'a mount point is missing in a place that is read-only', remedy: 'make it there before' },
  ],
  [/Race condition/, { reason: 'the directory or file to be bound was exchanged', changed: true }],
  [
    new RegExp(placing),
    { reason: 'a place in the workspace changed while the sandbox was being built', changed: true },
  ],
  [/Can't chdir/, { reason: 'the working directory is missing, or may not be entered', remedy: 'give another `cwd`' }],
  [
    /pivot_root/,
    { reason: 'this machine does not let a sandbox have a root of its own (`pivot_root`)', remedy: inContainer },
  ],
  [
    /namespace[^\n]*\(ENOSPC\)/,
    {
      reason: 'there are as many namespaces as this machine allows, or none are allowed',
      remedy: 'raise the limits (`sysctl -w user.max_user_namespaces=15000`, and so on), or end other sandboxes',
    },
  ],
  [
    /Creating new namespace|No permissions to create|setting up uid map|creating new user namespace|clone.*not permitted/i,
    { reason: 'user namespaces are not permitted on this machine', remedy: noNamespaces.join('; ') },
  ],
  [
    /shared loopback: (?:namespace|process|other-namespace)/,
    { reason: 'the process that held the loopback of the workspace has ended', remedy: 'run the command again' },
  ],
  [
    /shared loopback: \w/,
    {
      reason: 'this machine does not let commands enter a loopback that they share (`setns`)',
      remedy: 'allow `setns` in the filter of the container, or set `loopback: "command"`',
    },
  ],
  [
    /loopback: Failed/,
    {
      reason: 'AppArmor does not let bubblewrap use its namespaces',
      remedy: `install an AppArmor profile for bwrap (\`${howToInstall('apparmor-profiles')}\`), or \`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\``,
    },
  ],
  [
    /Can't mount proc/,
    {
      reason: 'this machine does not let a sandbox have its own /proc',
      remedy: 'in a container, start that with `--security-opt systempaths=unconfined`',
    },
  ],
  [
    /Unknown option/,
    { reason: 'bubblewrap is too old: it cannot bind by descriptor', remedy: 'install bubblewrap 0.8 or later' },
  ],
  [
    /listing supervisor: ptrace/,
    {
      reason: 'this machine does not let a process trace its own children, which listings of the root need',
      remedy: '`sysctl -w kernel.yama.ptrace_scope=1`; in a container, let it use `ptrace`; or mount at `/workspace`',
    },
  ],
  [
    /listing supervisor: \w/,
    {
      reason: 'the kernel does not let a directory be listed without some names (seccomp and ptrace)',
      remedy: 'use Linux 5.9 or later, and in a container let it use `seccomp` and `ptrace`; or mount at `/workspace`',
    },
  ],
  [/Argument list too long/, { reason: 'its arguments and environment are longer than the kernel allows' }],
  [/execvp.*No such file/, { reason: 'the system has no /bin/sh that a sandbox could use' }],
]

export function explainFailure(output: string): StartFailure {
  return known.find(([pattern]) => pattern.test(output))?.[1] ?? { reason: 'the sandbox could not be built' }
}

export function startError(output: string): WorkspaceError {
  const native = new Error(output.trim() || 'bubblewrap ended without a word')
  const shortage = shortages.inText(output)
  if (shortage !== undefined) return shortages.refusal(shortage, { native })
  const { reason, remedy, changed } = explainFailure(output)
  return execError(changed ? 'EBUSY' : 'ENOEXEC', reason, {
    remedy: changed ? 'run the command again when nothing changes the workspace' : remedy,
    native,
  })
}
