import { Processes, type RunningProcess } from '@ws/sandbox'

/**
 * Descriptors of bubblewrap and its children. In the script, these have one digit, as dash requires. 9 carries an over-long command.
 */
export const descriptors = {
  arguments: 3,
  status: 4,
  seccomp: 5,
  control: 6,
  commandError: 7,
  report: 8,
  firstSource: 10,
} as const

/**
 * The first process in the finished sandbox. It waits until the Node process has checked the mounts.
 * If the Node process dies, the first process reads an end of file, and the command never runs.
 * The first process stays to report the command's exit status: proot would report the status of its last process.
 * So the command is not process 1, and signals have their normal effect on the command.
 * Messages of bubblewrap, proot and the first process ("Killed") go to descriptor 2, errors of the command to 7.
 */
export const firstProcessScript = [
  'exec 2>/dev/null',
  'unset PROOT_DONT_POLLUTE_ROOTFS',
  'trap : TERM INT HUP QUIT USR1 USR2 && echo ready >&8 && read -r word <&8 && test "$word" = go || exit 125',
  // A shell that cannot fork exits, and this trap reports the exit.
  "trap 'echo none >&8' EXIT", // @defence too few processes: says that there is no process
  '(exec "$@" 2>&7 7>&- 8>&-)',
  'set -- "$?"; trap - EXIT; echo "exit $1" >&8',
].join('\n')

export interface FirstProcessReport {
  readonly ready: boolean
  readonly exitCode: number | undefined
  /** True if the command could not get a process. */
  readonly unstarted: boolean
}

export function readReport(text: string): FirstProcessReport {
  const exit = /^exit (\d+)$/m.exec(text)?.[1]
  return {
    ready: /^ready$/m.test(text),
    exitCode: exit === undefined ? undefined : Number(exit),
    unstarted: /^none$/m.test(text),
  }
}

// Names that affect the first process or proot, or that a shell changes.
const special =
  /^(?:LD_.*|BASH.*|GLIBC_.*|MALLOC_.*|PROOT_.*|GCONV_PATH|LOCPATH|NLSPATH|ENV|IFS|PS\d|OPTIND|OPTERR|SHELLOPTS|POSIXLY_CORRECT|PPID|OLDPWD|_|word)$/
const plain = /^[A-Za-z_][A-Za-z0-9_]*$/

export interface SplitEnvironment {
  readonly outer: Record<string, string>
  /** Variables for the command alone, as `NAME=VALUE`. `env` sets these variables after the first process. */
  readonly inner: readonly string[]
}

/** Splits variables: the first process must not get variables that could affect it. */
export function splitEnvironment(env: Readonly<Record<string, string>>): SplitEnvironment {
  const entries = Object.entries(env)
  const isOuter = ([name]: [string, string]) => plain.test(name) && !special.test(name)
  return {
    outer: Object.fromEntries(entries.filter(isOuter)),
    inner: entries.filter((entry) => !isOuter(entry)).map(([name, value]) => `${name}=${value}`),
  }
}

export function firstProcess(argv: readonly string[], inner: readonly string[]): string[] {
  const command = inner.length === 0 ? argv : ['/usr/bin/env', '--', ...inner, ...argv]
  return ['/bin/sh', '-c', firstProcessScript, 'sh', ...command]
}

/** Process 1 of the sandbox. The start time distinguishes this process from a later process with the same number. */
export interface Child {
  readonly pid: number
  readonly startTime: string | undefined
}

export function identify(pid: number): Child {
  return { pid, startTime: startTimeOf(pid) }
}

/** True while the process lives. Also true without descriptors for the check: the callers are streams and timers, which must not throw. */
export function isAlive(child: Child): boolean {
  try {
    return isStill(child)
  } catch {
    return true
  }
}

function isStill({ pid, startTime }: Child): boolean {
  return startTime !== undefined && startTimeOf(pid) === startTime
}

/** @returns false if the sandbox is gone, since its number may now belong to another process */
export function signalIn(child: Child, pid: number, signal: NodeJS.Signals): boolean {
  try {
    return isStill(child) && process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Kills process 1, and with it the kernel ends the namespace. If this fails, kills bubblewrap. */
export function endSandbox(running: RunningProcess, child: Child): void {
  if (signalIn(child, child.pid, 'SIGKILL')) running.expectEnd()
  else running.kill('SIGKILL')
}

/** The start time of a process; `undefined` without such a process, or for a zombie. */
function startTimeOf(pid: number): string | undefined {
  const found = Processes.readProcessStat(pid)
  return found?.zombie === false ? found.startTime : undefined
}
