import { tmpdir } from 'node:os'

import { createWorkspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'

import { runIn, runPlainly } from '../site.ts'

export interface Runner {
  readonly name: string
  /** @throws if the command's exit code is not 0 */
  run(command: string, env?: Readonly<Record<string, string>>): Promise<void>
}

interface Subject {
  readonly executor: string
  readonly at: '/' | '/workspace'
  readonly create: () => Executor
}

export const subjects: readonly Subject[] = [
  { executor: 'bubblewrap', at: '/workspace', create: () => createBubblewrapExecutor() },
  { executor: 'bubblewrap', at: '/', create: () => createBubblewrapExecutor({ root: 'direct' }) },
  { executor: 'bubblewrap, translated', at: '/', create: () => createBubblewrapExecutor({ root: 'translated' }) },
  { executor: 'proot', at: '/workspace', create: () => createProotExecutor() },
  { executor: 'proot', at: '/', create: () => createProotExecutor() },
  { executor: 'sanitize', at: '/workspace', create: () => createSanitizeExecutor({ trustPrograms: 'all' }) },
  { executor: 'sanitize', at: '/', create: () => createSanitizeExecutor({ trustPrograms: 'all' }) },
  { executor: 'virtual', at: '/workspace', create: () => createVirtualExecutor() },
]

/** Opens a runner with its own workspace, without rules: executors differ in the rules that they can enforce. */
export async function openRunner(
  { executor, at, create }: Subject,
  adapter: StorageAdapter,
): Promise<Runner & AsyncDisposable> {
  const workspace = await createWorkspace({ mounts: [{ at, adapter }], executors: [create()] })
  return {
    name: `${executor} at ${at}`,
    run: (command) => runIn(workspace, command),
    [Symbol.asyncDispose]: () => workspace.close(),
  }
}

/** Runs commands with a bare `child_process.spawn`: with the same user and limits, and an environment like that of commands. */
export function plainRunner(directory: string): Runner {
  // TMPDIR is where a workspace has its /tmp, because pip moves installed files from there.
  const place = { HOME: directory, TMPDIR: tmpdir() }
  const clean = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'dumb', ...place }
  return {
    name: 'plain command',
    run: (command, env) => runPlainly(['/bin/sh', '-c', command], { cwd: directory, env: { ...clean, ...env } }),
  }
}
