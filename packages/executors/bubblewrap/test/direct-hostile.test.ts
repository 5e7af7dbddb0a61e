import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { chown, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError, type Workspace } from '@ws/core'
import { Reserve } from '@ws/sandbox'
import {
  component,
  createScratchDirectory,
  describeWith,
  itWith,
  type ScratchDirectory,
  deep,
  rounds,
} from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { eventually, processesWith } from './support/processes.ts'
import { needed } from './support/workbench.ts'

// its text: an ordinary user may not be able to read this clone
const exchange = readFileSync(new URL('support/exchange.pl', import.meta.url), 'utf8')
const worker = fileURLToPath(new URL('support/worker.ts', import.meta.url))

describeWith(needed.direct, 'a root that hides names, under attack', () => {
  let scratch: ScratchDirectory
  let root: string
  let marker: string
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-hostile-' })
    root = join(scratch.path, 'work')
    await mkdir(root)
    await give(root)
    marker = `8${Math.floor(Math.random() * 1e8)}`
    await writeFile(join(root, 'mine'), marker)
    await give(join(root, 'mine'))
  })
  afterEach(() => scratch.remove())

  async function give(path: string): Promise<void> {
    if (process.getuid?.() === 0) await chown(path, scratch.owner.uid, scratch.owner.gid)
  }
  async function open(): Promise<Workspace> {
    return await createWorkspace({
      mounts: [{ at: '/', adapter: await createLocalAdapter({ root }) }],
      executors: [createBubblewrapExecutor({ root: 'direct', warm: false })],
    })
  }
  /** Process numbers of the listing supervisors of this process, by what they run. */
  function supervisors(parent: number): number[] {
    return processesWith('listing supervisor')
      .filter((one) => one.parent === parent)
      .map(({ pid }) => pid)
  }

  it('answers listings as fast as they come, by processes that are killed in the middle of them', {
    tags: 'rounds',
  }, async () => {
    await using workspace = await open()
    const storm = [
      `my $end = time + ${deep ? 10 : 1}; my ($n, @pids) = (0);`,
      'sub look { while (1) { opendir my $d, "/" or next; my @n = grep { $_ ne "." && $_ ne ".." } readdir $d; exit 9 if "@n" ne "mine" } }',
      'for (1 .. 12) { my $p = fork; look() if !$p; push @pids, $p }',
      'while (time < $end) { my $i = int rand @pids; select undef, undef, undef, 0.001; kill "KILL", $pids[$i]; waitpid $pids[$i], 0; die "saw" if $? >> 8; my $p = fork; look() if !$p; $pids[$i] = $p; $n++ }',
      'kill "KILL", @pids; for (@pids) { waitpid $_, 0; die "saw" if $? >> 8 } print "calm\\n"',
    ].join(' ')
    expect(await workspace.exec(`perl -e '${storm}'`)).toMatchObject({ exitCode: 0, stdout: 'calm\n', stderr: '' })
    expect(supervisors(process.pid)).toEqual([])
  })

  itWith([component('python3')], 'answers threads that end, close and exchange descriptors meanwhile', async () => {
    await using workspace = await open()
    const program = `
import ctypes, os, random, threading, time
libc = ctypes.CDLL(None, use_errno=True); end = time.time() + ${deep ? 10 : 0.5}
fd = os.open('/', os.O_RDONLY); other = os.open('/usr', os.O_RDONLY); shared = os.dup(fd)
def reader():
    buffer = ctypes.create_string_buffer(4096)
    while time.time() < end:
        libc.lseek(shared, 0, 0); libc.syscall(${process.arch === 'arm64' ? 61 : 217}, shared, buffer, random.choice([0, 8, 100, 4096]))
        libc.syscall(${process.arch === 'arm64' ? 61 : 217}, shared, ctypes.c_void_p(random.choice([0, 1, 4096, 2**47, 2**63])), 4096)
def swapper():
    while time.time() < end:
        os.dup2(random.choice([fd, other]), shared)
def closer():
    while time.time() < end:
        one = os.open('/', os.O_RDONLY); t = threading.Thread(target=os.close, args=(one,)); t.start()
        try: os.listdir(one)
        except OSError: pass
        t.join()
all = [threading.Thread(target=t) for t in [reader] * 6 + [swapper] + [closer] * 2]
[t.start() for t in all]; [t.join() for t in all]
assert os.listdir('/') == ['mine', 'attack.py'] or sorted(os.listdir('/')) == ['attack.py', 'mine'], os.listdir('/')
print('calm')`
    await writeFile(join(root, 'attack.py'), program)
    await give(join(root, 'attack.py'))
    expect(await workspace.exec('python3 attack.py')).toMatchObject({ exitCode: 0, stdout: 'calm\n', stderr: '' })
    expect(await readdir(root)).toHaveLength(2)
  })

  it('lets no command see, signal or trace what answers it', async () => {
    await using workspace = await open()
    const { stdout } = await workspace.exec(
      'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -c "n{seccom[p]}"; kill -9 -1 2>/dev/null; for p in 1 2 3 4 5; do kill -0 $p 2>/dev/null && echo $p; done | head -3; ls -A /',
    )
    expect(stdout).toMatch(/^0\n/)
  })

  it('shows a program that may be run but not read the same', async () => {
    await using workspace = await open()
    const listing = await workspace.exec('cp /usr/bin/ls own && chmod 111 own && ./own -A /; ./own -A /usr >/dev/null')
    expect(listing).toMatchObject({ stdout: 'mine\nown\n', stderr: '', exitCode: 0 })
    expect((await workspace.exec('ls -A /')).stdout).toBe('mine\nown\n')
  })

  it('ends with EIO when what answers is killed, and leaves neither process nor name', async () => {
    await using workspace = await open()
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const running = await workspace.spawn(`echo ready; while :; do ls -A / > /dev/null; done; : ${marker}`)
      await running.stdout[Symbol.asyncIterator]().next()
      const [pid = 0] = supervisors(process.pid)
      process.kill(pid, signal)
      const error = await running.wait().catch((thrown: unknown) => thrown)
      expect(isWorkspaceError(error, 'EIO'), String(error)).toBe(true)
      expect(await eventually(() => processesWith(marker).length === 0)).toBe(true)
      expect(await readdir(root)).toEqual(['mine'])
    }
    expect((await workspace.exec('ls -A /')).stdout).toBe('mine\n')
  })

  it('is a wrong answer to nobody: a command that ends with 0 has seen the right names, after any kill', async () => {
    await using workspace = await open()
    for (const _ of rounds({ quick: 2, seconds: 5 })) {
      const running = workspace.exec('for i in 1 2 3 4 5 6 7 8; do ls -A / || exit 1; done')
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
      for (const pid of supervisors(process.pid)) process.kill(pid, 'SIGKILL')
      const result = await running.catch((error: unknown) => error)
      if (isWorkspaceError(result)) expect(['EIO', 'ENOEXEC', 'EBUSY']).toContain(result.code)
      else expect(result).toMatchObject({ exitCode: 0, stdout: 'mine\n'.repeat(8) })
      expect(await readdir(root)).toEqual(['mine'])
    }
  })

  it(`leaves nothing after kill -9 at any moment: of the process, of what answers, of bubblewrap`, {
    tags: 'rounds',
    timeout: 600_000,
  }, async () => {
    const state = join(scratch.path, 'state')
    await mkdir(state, { mode: 0o700 })
    const env = { ...process.env, WS_STATE_DIRECTORY: state }
    for (const round of rounds({ quick: 1, seconds: 5 })) {
      const command = `echo ready; ls -A / > /dev/null; sleep 0.0${round % 10}; : ${marker}`
      const argv = ['--conditions=@ws/source', worker, root, '/', '[]', command, '50', '2', 'direct']
      const child: ChildProcess = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'], env })
      if (child.stdout !== null) await once(child.stdout, 'data')
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 150))
      const targets = [child.pid ?? 0, ...supervisors(child.pid ?? 0), ...bubblewraps(marker)]
      const victim = targets[round % targets.length] ?? 0
      kill(victim)
      if (victim !== child.pid) await new Promise((resolve) => setTimeout(resolve, Math.random() * 50))
      kill(child.pid ?? 0)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      expect(await eventually(() => processesWith(marker).length === 0), `round ${round}`).toBe(true)
      vi.stubEnv('WS_STATE_DIRECTORY', state)
      try {
        await Reserve.sweepReserved()
      } finally {
        vi.unstubAllEnvs()
      }
      expect(await eventually(() => readdirSync(root).join() === 'mine'), readdirSync(root).join()).toBe(true)
      expect(readFileSync(join(root, 'mine'), 'utf8')).toBe(marker)
    }
    await rm(state, { recursive: true })
  })

  it(`writes nothing elsewhere when its names are led there during the start`, {
    tags: 'rounds',
    timeout: 600_000,
  }, async () => {
    await using workspace = await open()
    const outside = join(scratch.path, 'outside')
    await mkdir(outside)
    await give(outside)
    const names = ['etc', 'dev', 'proc', 'usr', 'tmp', 'workspace']
    for (const name of names) await symlink(outside, join(root, `link-${name}`))
    const pairs = names.flatMap((name) => [join(root, name), join(root, `link-${name}`)])
    const attacker = spawn(
      '/usr/bin/perl',
      ['-e', exchange, String(process.arch === 'arm64' ? 276 : 316), '20000', ...pairs],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        ...(process.getuid?.() === 0 ? scratch.owner : {}),
      },
    )
    if (attacker.stdout !== null) await once(attacker.stdout, 'data')
    const seen = { ran: 0, refused: 0 }
    try {
      for (const _ of rounds({ quick: 8, seconds: 5 })) {
        const result = await workspace.exec('true').catch((error: unknown) => error)
        if (isWorkspaceError(result)) seen.refused++
        else seen.ran++
      }
    } finally {
      const exited = once(attacker, 'exit')
      attacker.kill('SIGKILL')
      await exited
    }
    expect(seen.refused).toBeGreaterThan(0)
    // Names that bubblewrap makes in a /dev, and mount points; none of the files of /etc.
    const made = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'pts', 'shm', 'ptmx', 'fd', 'core', 'stdin']
    made.push('stdout', 'stderr', 'console', 'alternatives', 'ssl', 'fonts', 'usr', 'etc', 'dev', 'proc', 'tmp')
    const strange = (await readdir(outside)).filter((name) => !made.includes(name) && !/^(?:java|python)/.test(name))
    expect(strange).toEqual([])
  })

  function bubblewraps(word: string): number[] {
    return processesWith(word)
      .filter((one) => one.arguments.includes('bwrap'))
      .map(({ pid }) => pid)
  }
})

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL')
  } catch {
    // It has gone.
  }
}
