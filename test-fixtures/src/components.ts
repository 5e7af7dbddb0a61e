import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

import { asOwner } from './owner.ts'

/** Component names. `radosgw`: all of Ceph; `fuse`, `tmpfs`: this user can mount; `runc`: can start; `shared-clone`: open to others. */
export const componentNames = [
  'bubblewrap',
  'proot',
  'sandbox-runtime',
  'bash',
  'zsh',
  'fish',
  'busybox',
  'perl',
  'strace',
  'python3',
  'python3-venv',
  'java',
  'go',
  'cargo',
  'git',
  'cc',
  'node',
  'npm',
  'landlock',
  'user-namespaces',
  'cgroup2',
  'runc',
  'dockerd',
  'radosgw',
  'swift',
  'rclone',
  'fuse',
  'tmpfs',
  'redis-server',
  'rg',
  'chromium',
  'sshd',
  'shared-clone',
] as const

export type ComponentName = (typeof componentNames)[number]

export interface Component {
  readonly name: ComponentName
  readonly available: boolean
  /** The reason why the component is missing, in one sentence; otherwise empty. */
  readonly reason: string
  /** Host path of the program, if the component is a program and was found. */
  readonly path: string | undefined
}

const systemDirectories = ['/usr/local/bin', '/usr/bin', '/bin']

interface Probe {
  readonly program: string
  readonly args: readonly string[]
  readonly besides?: readonly string[]
  /** True for a component that the tester uses, not commands. */
  readonly asSelf?: true
  readonly env?: Readonly<Record<string, string>>
  /** An explanation of a failed start, if useful. */
  readonly hint?: string
}

// landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION); 444 on every architecture
const landlockVersion = 'exit(syscall(444, 0, 0, 1) >= 1 ? 0 : 1)'

// Mounts like FUSE programs: a helper sends an open /dev/fuse over the socket. No server answers, so the mount is removed unread.
const mountFuse = `use Socket; use File::Temp 'tempdir';
  $^F = 1000; # else the socket is closed for the helper
  socketpair(my $ours, my $theirs, AF_UNIX, SOCK_STREAM, 0) or die;
  $ENV{_FUSE_COMMFD} = fileno $theirs;
  my $directory = tempdir();
  my $failed = system('fusermount3', '--', $directory);
  system('fusermount3', '-u', '-z', '--', $directory) unless $failed;
  rmdir $directory;
  exit($failed ? 1 : 0)`

// Runs `true` in the smallest possible container.
const runContainer = `test -e /usr/share/containers/seccomp.json || { echo 'its default filter is missing' >&2; exit 1; }
  bundle=$(mktemp -d) && trap 'rm -rf "$bundle"' EXIT && mkdir "$bundle/rootfs" && cd "$bundle" || exit 1
  for name in bin lib lib64; do ln -s "usr/$name" "rootfs/$name"; done
  echo '{ "ociVersion": "1.0.2", "root": { "path": "rootfs" }, "linux": { "namespaces": [{ "type": "mount" }, { "type": "pid" }] },
    "process": { "user": { "uid": 0, "gid": 0 }, "args": ["/bin/true"], "cwd": "/" }, "mounts": [
    { "destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"] },
    { "destination": "/proc", "type": "proc", "source": "proc" }] }' > config.json
  /usr/sbin/runc --root "$bundle/state" run "ws-probe-$$"`

// Makes and removes a group below the tester's group.
const makeCgroup = `open my $m, '<', '/proc/self/mountinfo'; my ($at) = map { (split)[4] } grep { / - cgroup2 / } <$m>;
  open my $o, '<', '/proc/self/cgroup'; my ($own) = map { /^0::(.*)$/ } <$o>;
  my $d = "$at$own/ws-probe-$$"; exit(1) unless mkdir $d; my $kill = -e "$d/cgroup.kill"; exit(rmdir($d) && $kill ? 0 : 1)`

const swift = process.env['WS_SWIFT'] ?? '/opt/ws-swift'

export const swiftEnvironment: Readonly<Record<string, string>> = {
  PYTHONPATH: `${swift}/usr/lib/python3/dist-packages`,
  LD_LIBRARY_PATH: `${swift}/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`,
}

const deepHint = 'scripts/setup-deep.sh installs it'

const probes: Record<ComponentName, Probe> = {
  bubblewrap: {
    program: 'bwrap',
    args: '--unshare-all --die-with-parent --ro-bind / / --proc /proc --dev /dev /bin/true'.split(' '),
    hint: 'it needs user namespaces',
  },
  proot: { program: 'proot', args: ['-r', '/', '/bin/true'], hint: 'it needs ptrace' },
  // its program on Linux, and on macOS
  'sandbox-runtime':
    process.platform === 'darwin'
      ? { program: 'sandbox-exec', args: ['-p', '(version 1) (allow default)', '/usr/bin/true'] }
      : {
          program: 'bwrap',
          args: '--unshare-all --ro-bind / / --proc /proc --dev /dev /bin/true'.split(' '),
          hint: 'it needs user namespaces',
        },
  bash: { program: 'bash', args: ['-c', 'true'] },
  zsh: { program: 'zsh', args: ['-c', 'true'] },
  fish: { program: 'fish', args: ['--no-config', '-c', 'true'] },
  busybox: { program: 'busybox', args: ['true'] },
  perl: { program: 'perl', args: ['-e', '1'] },
  python3: { program: 'python3', args: ['-c', '1'] },
  'python3-venv': { program: 'python3', args: ['-c', 'import venv, ensurepip'] },
  java: { program: 'java', args: ['--list-modules'], besides: ['javac'], hint: deepHint },
  go: { program: 'go', args: ['version'], hint: deepHint },
  cargo: { program: 'cargo', args: ['--version'], hint: deepHint },
  strace: { program: 'strace', args: ['--quiet=all', 'true'], hint: 'this user may not trace', asSelf: true },
  git: { program: 'git', args: ['--version'] },
  cc: {
    program: 'cc',
    args: ['-fsyntax-only', '-include', 'stdio.h', '-include', 'linux/io_uring.h', '-x', 'c', '/dev/null'],
    hint: 'it needs the headers of libc and Linux',
  },
  node: { program: 'node', args: ['-e', '0'] },
  npm: { program: 'npm', args: ['--version'] },
  landlock: { program: 'perl', args: ['-e', landlockVersion], hint: 'the kernel has no Landlock, or it is off' },
  'user-namespaces': { program: 'unshare', args: ['--user', '--map-root-user', 'true'], hint: 'they are off' },
  cgroup2: { program: 'perl', args: ['-e', makeCgroup], asSelf: true, hint: 'no cgroup v2 group can be made' },
  runc: { program: 'sh', args: ['-c', runContainer], asSelf: true, hint: 'it needs root, runc and containers-common' },
  dockerd: {
    program: 'sh',
    args: ['-c', 'test -x /usr/sbin/dockerd -a -x /usr/bin/containerd && test "$(id -u)" = 0'],
    asSelf: true,
    hint: 'it needs root and docker.io',
  },
  radosgw: {
    program: 'radosgw',
    args: ['--version'],
    besides: ['radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'setpriv'],
    asSelf: true,
  },
  swift: {
    program: 'python3',
    args: ['-Bc', 'import swift.common.wsgi, pyeclib'],
    besides: ['setpriv'],
    asSelf: true,
    env: swiftEnvironment,
    hint: deepHint,
  },
  rclone: { program: 'rclone', args: ['version'], asSelf: true },
  fuse: {
    program: 'perl',
    args: ['-e', mountFuse],
    besides: ['fusermount3'],
    asSelf: true,
    hint: 'it needs /dev/fuse and the right to mount',
  },
  tmpfs: {
    program: 'unshare',
    args: ['--mount', 'mount', '-t', 'tmpfs', 'probe', '/mnt'],
    asSelf: true,
    hint: 'it needs the right to mount',
  },
  'redis-server': { program: 'redis-server', args: ['--version'], asSelf: true },
  rg: { program: 'rg', args: ['--version'], asSelf: true },
  chromium: { program: 'chromium', args: ['--version'], asSelf: true },
  sshd: {
    program: 'sh',
    args: ['-c', 'test -x /usr/sbin/sshd && getent passwd "$(id -u)"'],
    besides: ['ssh', 'ssh-keygen'],
    hint: 'it needs openssh-server and a named user',
  },
  'shared-clone': {
    program: 'test',
    args: ['-r', import.meta.filename, '-a', '-x', process.execPath],
    hint: 'only its owner may enter the directory of this clone',
  },
}

const found = new Map<ComponentName, Component>()

/** Probes a component once, as its user. Later calls return the same result. */
export function component(name: ComponentName): Component {
  let result = found.get(name)
  if (result === undefined) {
    result = runProbe(name, probes[name])
    found.set(name, result)
  }
  return result
}

/** Host path of a program in the system's own directories, or `undefined`. */
export function findSystemProgram(program: string): string | undefined {
  return systemDirectories.map((directory) => join(directory, program)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function runProbe(name: ComponentName, { program, args, besides = [], asSelf, env, hint }: Probe): Component {
  const path = findSystemProgram(program)
  const unavailable = (reason: string): Component => ({ name, available: false, reason, path })
  const absent = [program, ...besides].find((needed) => findSystemProgram(needed) === undefined)
  if (path === undefined || absent !== undefined) {
    return unavailable(`${absent ?? program} is not in ${systemDirectories.join(', ')}`)
  }

  const run = spawnSync(path, args, {
    ...(asSelf !== true && asOwner()),
    cwd: '/',
    // rclone tries to make a directory in HOME; here even root cannot
    env: { PATH: systemDirectories.join(':'), HOME: '/dev/null', LC_ALL: 'C.UTF-8', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: 20_000,
  })
  if (run.status === 0) return { name, available: true, reason: '', path }

  const ending = run.error?.message ?? run.stderr.trim().split('\n').at(-1) ?? ''
  const outcome = run.signal === null ? `ended with ${String(run.status)}` : `was ended by ${run.signal}`
  return unavailable([`${path} ${outcome}`, ending, hint].filter(Boolean).join('; '))
}
