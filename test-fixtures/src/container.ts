import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Options as in container engines. */
export interface ContainerOptions {
  readonly user: { readonly uid: number; readonly gid: number }
  /** Capabilities without the prefix `CAP_`. Default: Docker's. */
  readonly capabilities?: readonly string[] | undefined
  /** `default`: containers-common's filter without new namespaces and mounts, as in Docker. `unconfined`: no filter, `/proc` unmasked. */
  readonly filter?: 'default' | 'unconfined' | undefined
  /** Number of users in a user namespace, as in rootless containers. Default: no namespace. */
  readonly users?: number | undefined
  /** The root file system is read-only. Default false. */
  readonly readOnly?: boolean | undefined
  /** How `/tmp` and `/dev/shm` are mounted: in memory, in memory and `noexec`, or read-only. Default `memory`. */
  readonly temporary?: 'memory' | 'noexec' | 'read-only' | undefined
  /** Host directories, which have the same path in the container. */
  readonly mounts?: readonly { readonly path: string; readonly writable: boolean }[] | undefined
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

export interface ContainerResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Docker's default capabilities. */
export const defaultCapabilities: readonly string[] = [
  ...['CHOWN', 'DAC_OVERRIDE', 'FSETID', 'FOWNER', 'MKNOD', 'NET_RAW', 'SETGID', 'SETUID', 'SETFCAP', 'SETPCAP'],
  ...['NET_BIND_SERVICE', 'SYS_CHROOT', 'KILL', 'AUDIT_WRITE'],
]

const filterFile = '/usr/share/containers/seccomp.json'
/** Calls that containers-common allows without privileges in user namespaces, but Docker does not. */
const refusedByDocker = [
  ...['clone', 'clone3', 'unshare', 'setns', 'mount', 'umount', 'umount2', 'pivot_root', 'mount_setattr', 'move_mount'],
  ...['fsopen', 'fsmount', 'fsconfig', 'fspick', 'open_tree', 'keyctl', 'add_key', 'request_key'],
]
const newNamespaces = 0x7e020000

/** Runs a program in a container of runc with this machine's `/usr` and `/etc`. Needs the component `runc`. */
export async function runInContainer(argv: readonly string[], options: ContainerOptions): Promise<ContainerResult> {
  const bundle = mkdtempSync(join(tmpdir(), 'ws-bundle-'))
  try {
    chmodSync(bundle, 0o755)
    mkdirSync(join(bundle, 'rootfs'))
    if (options.users !== undefined) chownSync(join(bundle, 'rootfs'), firstUser, firstUser)
    for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(bundle, 'rootfs', name))
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(configuration(argv, options)))
    const runc = spawn(
      '/usr/sbin/runc',
      ['--root', join(bundle, 'state'), 'run', '--bundle', bundle, basename(bundle)],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const [stdout, stderr, [exitCode]] = await Promise.all([text(runc.stdout), text(runc.stderr), once(runc, 'close')])
    return { exitCode: exitCode as number | null, stdout, stderr }
  } finally {
    rmSync(bundle, { recursive: true, force: true })
  }
}

function configuration(argv: readonly string[], options: ContainerOptions): object {
  const { user, capabilities = defaultCapabilities, filter = 'default', readOnly = false, cwd = '/' } = options
  const { temporary = 'memory', mounts = [], env = {}, users } = options
  // For users other than root, these capabilities are only the bounding set.
  const held = capabilities.map((name) => `CAP_${name}`)
  const effective = user.uid === 0 ? held : []
  const memory = (destination: string, mode: string, more: readonly string[] = []) => ({
    destination,
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', `mode=${mode}`, ...more],
  })
  const bind = (path: string, writable: boolean) => ({
    destination: path,
    type: 'bind',
    source: path,
    options: ['rbind', writable ? 'rw' : 'ro'],
  })
  const closed = { memory: [], noexec: ['noexec'], 'read-only': ['ro'] }[temporary]
  return {
    ociVersion: '1.0.2',
    process: {
      user,
      args: argv,
      cwd,
      env: [path, 'HOME=/', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      capabilities: { bounding: held, permitted: effective, effective },
    },
    root: { path: 'rootfs', readonly: readOnly },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      memory('/dev', '755'),
      memory('/dev/shm', '1777', closed),
      memory('/tmp', '1777', closed),
      ...['/usr', '/etc'].map((path) => bind(path, false)),
      ...mounts.map(({ path, writable }) => bind(path, writable)),
    ],
    linux: {
      namespaces: [...namespaces, ...(users === undefined ? [] : ['user'])].map((type) => ({ type })),
      ...(users === undefined ? {} : { uidMappings: mapping(users), gidMappings: mapping(users) }),
      ...(filter === 'unconfined'
        ? {}
        : {
            seccomp: dockerFilter(held),
            maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/scsi', '/sys/firmware'],
            readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
          }),
    },
  }
}

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const namespaces = ['pid', 'ipc', 'uts', 'mount', 'network']

/** The host number of a container's first user in a user namespace. */
const firstUser = 200_000

function mapping(size: number): object[] {
  return [{ containerID: 0, hostID: firstUser, size }]
}

interface FilterEntry {
  readonly names: readonly string[]
  readonly action: string
  readonly args?: readonly object[] | null
  readonly errnoRet?: number
  readonly includes: { readonly caps?: readonly string[]; readonly arches?: readonly string[] }
  readonly excludes: { readonly caps?: readonly string[] }
}

/** The seccomp filter that a container engine gives runc for these capabilities. */
function dockerFilter(capabilities: readonly string[]): object {
  const { defaultAction, defaultErrnoRet, syscalls } = JSON.parse(readFileSync(filterFile, 'utf8')) as {
    readonly defaultAction: string
    readonly defaultErrnoRet: number
    readonly syscalls: readonly FilterEntry[]
  }
  const machine = process.arch === 'x64' ? 'amd64' : process.arch
  const fits = ({ includes, excludes }: FilterEntry) =>
    (includes.caps ?? []).every((name) => capabilities.includes(name)) &&
    (includes.arches === undefined || includes.arches.includes(machine)) &&
    !(excludes.caps ?? []).some((name) => capabilities.includes(name))
  const own = syscalls.filter(fits).flatMap(({ names, action, args, errnoRet }) => {
    const left = names.filter((name) => !refusedByDocker.includes(name))
    return left.length === 0 ? [] : [{ names: left, action, args: args ?? [], ...(errnoRet ? { errnoRet } : {}) }]
  })
  const noNamespace = { index: 0, value: newNamespaces, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }
  return {
    defaultAction,
    defaultErrnoRet,
    architectures:
      process.arch === 'x64' ? ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'] : ['SCMP_ARCH_AARCH64'],
    syscalls: [
      ...own,
      { names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [noNamespace] },
      { names: refusedByDocker.filter((name) => !name.startsWith('clone')), action: 'SCMP_ACT_ERRNO', errnoRet: 1 },
    ],
  }
}
