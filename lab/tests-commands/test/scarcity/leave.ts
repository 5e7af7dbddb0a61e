import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Takes all of something but so much. @returns what gives it back */
type Leave = (left: number, directory: string) => GiveBack | Promise<GiveBack>

type GiveBack = () => void | Promise<void>

export const leavers = { descriptors, bytes, inodes, processes, memory } satisfies Readonly<Record<string, Leave>>

/** The kinds that can run short: bytes and inodes are those of a disk, and processes are threads too. */
export type Scarce = keyof typeof leavers

function descriptors(left: number): GiveBack {
  const held: number[] = []
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {
    // no descriptor is left
  }
  for (const fd of held.splice(0, left)) closeSync(fd)
  return () => held.forEach((fd) => closeSync(fd))
}

/** Leaves so many bytes of the small file system of this directory. */
function bytes(left: number, directory: string): GiveBack {
  const path = join(directory, 'filler')
  const { bavail, bsize } = statfsSync(directory)
  writeFileSync(path, new Uint8Array(Math.max(0, bavail * bsize - left)))
  return () => rmSync(path)
}

function inodes(left: number, directory: string): GiveBack {
  const names: string[] = []
  const { ffree } = statfsSync(directory)
  for (let index = 0; index < ffree - left; index++) {
    const path = join(directory, `filler-${index}`)
    closeSync(openSync(path, 'w'))
    names.push(path)
  }
  return () => names.forEach((path) => rmSync(path))
}

/** Address space of this process. Each of its children may have as much in all, which is plenty. */
function memory(left: number): GiveBack {
  const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(process.pid), `--as=${bytes}:`])
  const kibibytes = Number(/^VmSize:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1])
  limit(String(kibibytes * 1024 + left))
  return () => void limit('unlimited')
}

/** Forks until it may not any more, ends so many of them again, and all at the end of its input. */
const sleepers = `$| = 1; my @all; while (defined(my $pid = fork)) { if (!$pid) { sleep 600; exit } push @all, $pid }
  my @ended = splice @all, 0, $ARGV[0]; kill 9, @ended; waitpid($_, 0) for @ended; print "ready\\n"; <STDIN>; kill 9, @all; 1 while wait > 0`

/** Leaves so many processes of this user. */
async function processes(left: number): Promise<GiveBack> {
  const child = spawn('perl', ['-e', sleepers, String(left)], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(child, 'close')
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.end()
    await ended
  }
}
