import { Processes, type RunningProcess } from '@ws/sandbox'

/**
 * Descriptors of bubblewrap and of what it starts. Those that the shell script names have one digit: dash knows no
 * other. 9 is where an over-long command travels.
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
 * Runs before the command, inside the finished sandbox, and waits until it is let go. Only then has this process
 * checked the mounts, and only then is it certain that the sandbox ends with this process. When this process dies, the
 * gate reads an end of file, and the command never runs.
 *
 * It stays to report the exit status. proot's own is that of the process that ended last. Where proot is process 1 of
 * the sandbox, the command is not, so that signals act on the command as they do elsewhere. Messages of bubblewrap,
 * proot and the first process itself ("Killed") go to descriptor 2, the command's own errors to 7.
 */
export const firstProcessScript = [
  'exec 2>/dev/null',
  'unset PROOT_DONT_POLLUTE_ROOTFS',
  'trap : TERM INT HUP QUIT USR1 USR2 && echo ready >&8 && read -r word <&8 && test "$word" = go || exit 125',
  // A shell that cannot fork ends.
  "trap 'echo none >&8' EXIT",
  '(exec "$@" 2>&7 7>&- 8>&-)',
  'set -- "$?"; trap - EXIT; echo "exit $1" >&8',
].join('\n')

export interface FirstProcessReport {
  readonly ready: boolean
  readonly exitCode: number | undefined
  /** There was no process left for the command. */
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

// Names that change what the first process or proot does, or that a shell would not hand on as they are.
const special =
  /^(?:LD_.*|BASH.*|GLIBC_.*|MALLOC_.*|PROOT_.*|GCONV_PATH|LOCPATH|NLSPATH|ENV|IFS|PS\d|OPTIND|OPTERR|SHELLOPTS|POSIXLY_CORRECT|PPID|OLDPWD|_|word)$/
const plain = /^[A-Za-z_][A-Za-z0-9_]*$/

export interface SplitEnvironment {
  /** For everything inside. */
  readonly outer: Record<string, string>
  /** For the command alone: `NAME=VALUE`, to be set by `env` after the first process. */
  readonly inner: readonly string[]
}

/** Keeps from the first process what is meant for the command only. */
export function splitEnvironment(env: Readonly<Record<string, string>>): SplitEnvironment {
  const entries = Object.entries(env)
  const isOuter = ([name]: [string, string]) => plain.test(name) && !special.test(name)
  return {
    outer: Object.fromEntries(entries.filter(isOuter)),
    inner: entries.filter((entry) => !isOuter(entry)).map(([name, value]) => `${name}=${value}`),
  }
}

/** The command line of the first process, with the command after it. */
export function firstProcess(argv: readonly string[], inner: readonly string[]): string[] {
  const command = inner.length === 0 ? argv : ['/usr/bin/env', '--', ...inner, ...argv]
  return ['/bin/sh', '-c', firstProcessScript, 'sh', ...command]
}

/** Process 1 of the sandbox. Its start time distinguishes it from a later process with the same number. */
export interface Child {
  readonly pid: number
  readonly startTime: string | undefined
}

/** It is looked up while it surely lives. */
export function identify(pid: number): Child {
  return { pid, startTime: startTimeOf(pid) }
}

/** True as well where it cannot be looked up, since descriptors are short: streams and timers ask too, and must not throw. */
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

/** @returns false where the sandbox is gone: the number may be another process by then */
export function signalIn(child: Child, pid: number, signal: NodeJS.Signals): boolean {
  try {
    return isStill(child) && process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Process 1 of the namespace: the kernel ends all others with it. Without it, bubblewrap's own end does that. */
export function endSandbox(running: RunningProcess, child: Child): void {
  if (signalIn(child, child.pid, 'SIGKILL')) running.expectEnd()
  else running.kill('SIGKILL')
}

/** A zombie counts as gone. */
function startTimeOf(pid: number): string | undefined {
  const found = Processes.readProcessStat(pid)
  return found?.zombie === false ? found.startTime : undefined
}
