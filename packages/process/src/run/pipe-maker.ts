import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fchownSync, openSync } from 'node:fs'

/** Both ends of a pipe, open in this process. */
export interface PipePair {
  readonly read: number
  readonly write: number
}

/** Prepares what pipes are for; closes them where that fails. */
export function withPipes<T>(pairs: readonly (PipePair | undefined)[], prepare: () => T): T {
  try {
    return prepare()
  } catch (error) {
    for (const pair of pairs) for (const fd of pair ? [pair.read, pair.write] : []) closeSync(fd)
    throw error
  }
}

/** Bytes have a `write` too. */
export function isPipePair(source: unknown): source is PipePair {
  return typeof source === 'object' && source !== null && !(source instanceof Uint8Array)
}

/**
 * Makes pipes. Node gives its children sockets, which cannot be opened by name: `echo x > /dev/stderr` and
 * `cat /dev/stdin` fail with ENXIO on them.
 */
export interface PipeMaker {
  /**
   * @param owner who may open it by name: whom commands run as
   * @returns the caller's to close; `undefined` where none can be made
   */
  take(owner?: { readonly uid: number; readonly gid: number }): Promise<PipePair | undefined>
  /** Ends what makes them. Each user calls it once. */
  close(): void
}

// Node has no call for it. A pipe that another process holds can be opened through /proc, which leaves nothing on any
// disk; then that process lets go of it. An end of file is the end of the process that asks.
const script = String.raw`
$| = 1;
while (defined(my $order = <STDIN>)) {
  pipe(my $read, my $write) or last;
  print fileno($read), ' ', fileno($write), "\n";
  <STDIN>;
}`

const perl = '/usr/bin/perl'

let shared: { readonly maker: PipeMaker; users: number } | undefined

/** The maker of this process: started with its first pipe, ended with its last user. */
export function usePipes(): PipeMaker {
  const current = (shared ??= { maker: createMaker(), users: 0 })
  current.users++
  return {
    take: current.maker.take,
    close() {
      if (--current.users > 0) return
      if (shared === current) shared = undefined
      current.maker.close()
    },
  }
}

function createMaker(): PipeMaker {
  let child: ChildProcess | undefined
  let broken = false
  let queue: Promise<unknown> = Promise.resolve()

  function start(): ChildProcess {
    const started = spawn(perl, ['-e', script], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
      cwd: '/',
      detached: true,
    })
    const fail = () => {
      broken = true
    }
    started.on('error', fail)
    started.on('exit', fail)
    started.stdin?.on('error', fail)
    started.unref()
    for (const stream of [started.stdin, started.stdout])
      if (stream && 'unref' in stream) (stream.unref as () => void)()
    return started
  }

  async function make(owner: { readonly uid: number; readonly gid: number } | undefined) {
    if (broken) return undefined
    child ??= start()
    const numbers = await ask(child)
    if (numbers === undefined) {
      broken = true
      return undefined
    }
    const opened: number[] = []
    try {
      for (const [index, number] of numbers.entries())
        opened.push(openSync(`/proc/${child.pid}/fd/${number}`, index === 0 ? 'r' : 'w'))
      const [read = -1, write = -1] = opened
      if (owner !== undefined && process.getuid?.() === 0) fchownSync(read, owner.uid, owner.gid)
      return { read, write }
    } catch {
      for (const fd of opened) closeSync(fd)
      broken = true
      return undefined
    } finally {
      child.stdin?.write('close\n')
    }
  }

  return {
    take(owner) {
      const made = queue.then(() => make(owner))
      queue = made
      return made
    },
    close: () => void child?.stdin?.end(),
  }
}

/** Asks for one pipe; the numbers of its ends there. */
function ask(child: ChildProcess): Promise<readonly [string, string] | undefined> {
  const { stdin, stdout } = child
  if (!stdin || !stdout || child.exitCode !== null) return Promise.resolve(undefined)
  // Only while an answer is due is there something to wait for.
  child.ref()
  if ('ref' in stdout) (stdout.ref as () => void)()
  return new Promise((resolve) => {
    const finish = (answer: string) => {
      stdout.off('data', onData)
      child.off('exit', onEnd)
      child.off('error', onEnd)
      child.unref()
      if ('unref' in stdout) (stdout.unref as () => void)()
      const [, read, write] = /^(\d+) (\d+)\n$/.exec(answer) ?? []
      resolve(read !== undefined && write !== undefined ? [read, write] : undefined)
    }
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (text.endsWith('\n')) finish(text)
    }
    const onEnd = () => finish('')
    stdout.on('data', onData)
    child.once('exit', onEnd)
    child.once('error', onEnd)
    stdin.write('pipe\n')
  })
}
