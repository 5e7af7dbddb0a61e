import { createMemoryAdapter } from '@ws/adapter-memory'
import { type CommandResult, createWorkspace, type Rule, type Workspace } from '@ws/core'
import { expect } from 'vitest'

import { createVirtualExecutor, type VirtualExecutorOptions } from '../src/index.ts'

export interface OpenOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  readonly rules?: readonly Rule[]
  readonly at?: '/' | '/workspace'
  readonly executor?: VirtualExecutorOptions
}

/** One for all files of a worker, so that they share threads. A workspace that is never closed keeps those. */
export const sharedExecutor = createVirtualExecutor()
await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }], executors: [sharedExecutor] })

/** A workspace in memory with the virtual executor; one of its own with options. */
export async function open({ files = {}, rules = [], at = '/', executor }: OpenOptions = {}): Promise<Workspace> {
  return createWorkspace({
    mounts: [{ at, adapter: () => createMemoryAdapter({ files: { '/file.txt': 'a file\n', ...files } }) }],
    rules,
    executors: [executor === undefined ? sharedExecutor : createVirtualExecutor(executor)],
  })
}

/** The standard output of a command that is expected to work. */
export async function run(workspace: Workspace, command: string): Promise<string> {
  const result = await workspace.exec(command)
  if (result.exitCode === 0) return result.stdout
  throw new Error(`exit ${result.exitCode}: ${command}\n${result.stdout}${result.stderr}`)
}

export const shown = ({ exitCode, stdout, stderr }: CommandResult) => ({ exitCode, stdout, stderr })

/** Expects that a python program ends with these words before the time limit, and that the next one runs. */
export async function expectBounded(workspace: Workspace, code: string, words: RegExp): Promise<void> {
  await workspace.write('/workspace/p.py', code)
  const result = await workspace.exec('python3 p.py > out', { timeout: 60_000 })
  expect({ timedOut: result.timedOut, failed: result.exitCode !== 0 }).toEqual({ timedOut: false, failed: true })
  expect(result.stderr).toMatch(words)
  expect(await run(workspace, 'python3 -c "print(1)"')).toBe('1\n')
}
