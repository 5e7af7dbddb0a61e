import { setTimeout as after } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError, rules, type Workspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createSanitizeExecutor } from '@ws/executor-sanitize'

import { createArena } from './arena.ts'
import { noCounts } from './counts.ts'
import { Evidence } from './evidence.ts'
import { Racer } from './racer.ts'

/** Executors whose kernel guarantee of `fileContent` must hold while granted directories are exchanged. */
export const startedIn = ['bubblewrap', 'sanitize'] as const

export type StartedIn = (typeof startedIn)[number]

export interface StartsOptions {
  readonly executor?: StartedIn | undefined
  readonly seed: number
  /** The number of commands that must start. Refused commands do not count: their number depends on the machine. */
  readonly starts: number
  /** Milliseconds after which no further command is started. */
  readonly duration?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface StartsReport {
  readonly started: number
  /** Commands refused with `EBUSY` because a bind's source changed too often, or ended with `EIO` because a cover was removed. */
  readonly refused: number
  /** Commands that saw or changed an entry outside, or in a denied part. */
  readonly cheated: number
  readonly untyped: number
  readonly exchanges: number
  readonly findings: readonly string[]
}

const commands: Readonly<Record<StartedIn, string>> = {
  bubblewrap: repeated(
    'cat mounted/file.txt tree/dir/file.txt tree/link/file.txt tree/dir/sub/deep/file.txt mounted/sub/deep/file.txt',
    'ls mounted tree/dir tree/link',
    'echo x >> tree/dir/sub/command.txt; rm -rf tree/dir/sub/removed',
  ),
  // At each moment, one of `dir` and `link` is a link. With both, each command would be refused.
  sanitize: repeated(
    'cat /workspace/mounted/file.txt tree/dir/file.txt tree/dir/sub/deep/file.txt',
    'ls /workspace/mounted tree/dir',
    'echo x >> tree/dir/sub/command.txt; rm -rf tree/dir/sub/removed',
  ),
}

function repeated(...lines: readonly string[]): string {
  return `{ ${`${lines.join('; ')}; `.repeat(3)}} 2>/dev/null; true`
}

/** Starts commands while a racer exchanges a mounted directory, and a directory above a denied one, for links to outside. */
export async function runStarts(options: StartsOptions): Promise<StartsReport> {
  const { executor = 'bubblewrap', seed, starts, duration = Infinity, signal } = options
  await using arena = await createArena()
  const evidence = new Evidence(arena, noCounts())
  const local = (root: string) => (): ReturnType<typeof createLocalAdapter> =>
    createLocalAdapter({ root, owner: arena.owner })
  const open = (denied: boolean): Promise<Workspace> => {
    const root = { at: '/workspace', adapter: local(arena.workspace) }
    const mounted = { at: '/workspace/mounted', adapter: local(arena.mounted) }
    if (executor === 'sanitize') {
      const executors = [createSanitizeExecutor({ trustPrograms: 'all' })]
      return createWorkspace({ mounts: [root, mounted], executors, require: { fileContent: 'kernel' } })
    }
    return createWorkspace({
      mounts: [root, { ...mounted, access: 'read-only' }],
      rules: [rules.readOnly('/workspace/plain'), ...(denied ? [rules.deny('/workspace/tree/dir/sub/deep')] : [])],
      executors: [createBubblewrapExecutor()],
      require: 'untrusted',
    })
  }
  await using strict = await open(true)
  await using loose = await open(false)
  await using racer = await Racer.start({
    race: 'exchange',
    scratch: arena.scratch,
    owner: arena.owner,
    seed,
    pause: 30_000,
  })
  let [started, refused, cheated, untyped] = [0, 0, 0, 0]
  const until = performance.now() + duration
  for (let count = 0; started + untyped < starts && performance.now() < until && signal?.aborted !== true; count += 1) {
    const counts = noCounts()
    evidence.counts = counts
    try {
      const result = await (count % 2 === 0 ? strict : loose).exec(commands[executor], {
        login: false,
        timeout: 20_000,
      })
      started += 1
      evidence.bytes(result.stdout)
      evidence.name(result.stdout)
      if (executor === 'bubblewrap' && count % 2 === 0 && result.stdout.includes('denied')) {
        counts.bytes += 1
        evidence.note('a command read what a rule denies')
      }
    } catch (error) {
      if (isExpected(error)) {
        refused += 1
        await after(3)
      } else {
        untyped += 1
        evidence.note(String(error))
      }
    }
    const changes = arena.changes()
    if (counts.bytes + counts.names + changes > 0) cheated += 1
    if (changes > 0) arena.reset()
  }
  return { started, refused, cheated, untyped, exchanges: await racer.stop(), findings: evidence.findings }
}

function isExpected(error: unknown): boolean {
  return (['EBUSY', 'EIO', 'EUNENFORCEABLE'] as const).some((code) => isWorkspaceError(error, code))
}
