import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'

import { empty, fill, readTree, stampOf, type Tree } from './fixture.ts'

export const usualRoot = '/workspace'

/** The outcome of a one-liner. Output is bytes, one character for each. */
export interface Outcome {
  /** The executor's reason, when the one-liner did not run. */
  readonly refused?: string
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly tree: Tree
}

type Ended = Omit<Outcome, 'tree'>

/** Runs one-liners, each over a fresh copy of the fixture. */
export interface Runner extends AsyncDisposable {
  run(line: string): Promise<Outcome>
}

const timeout = 20_000

/** Runs them in an executor, over a mount at a place. */
export async function createRunner(executor: Executor, at: string): Promise<Runner> {
  const owner = ordinaryOwner()
  return over(async (directory) => {
    const workspace = await createWorkspace({
      mounts: [{ at, adapter: () => createLocalAdapter({ root: directory, owner }) }],
      executors: [executor],
    })
    return {
      async run(line) {
        try {
          const running = await workspace.spawn(line, { login: false, shell: 'bash', timeout })
          const [stdout, stderr, { exitCode }] = await Promise.all([
            collect(running.stdout),
            collect(running.stderr),
            running.wait(),
          ])
          return { exitCode, stdout, stderr }
        } catch (error) {
          if (!isWorkspaceError(error)) throw error
          return { refused: error.message, exitCode: null, stdout: '', stderr: '' }
        }
      },
      close: () => workspace.close(),
    }
  })
}

/** Runs them in plain bash on this machine: only for one-liners that name nothing outside of the directory they start in. */
export function createPlainRunner(): Promise<Runner> {
  const owner = ordinaryOwner()
  return over(async (directory) => ({
    async run(line) {
      const { status, stdout, stderr } = spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', line], {
        cwd: directory,
        ...(process.getuid?.() === 0 ? owner : {}),
        env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: directory },
        encoding: 'latin1',
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout,
      })
      return { exitCode: status, stdout, stderr }
    },
    close: async () => {},
  }))
}

interface Door {
  run(line: string): Promise<Ended>
  close(): Promise<void>
}

async function over(open: (directory: string) => Promise<Door>): Promise<Runner> {
  const owner = ordinaryOwner()
  const scratch = await createScratchDirectory({ owner })
  const directory = join(scratch.path, 'ws')
  fs.mkdirSync(directory)
  if (process.getuid?.() === 0) fs.chownSync(directory, owner.uid, owner.gid)
  fill(directory)
  let stamp = stampOf(directory)
  const fresh = readTree(directory)
  const door = await open(directory)
  return {
    async run(line) {
      const ended = await door.run(line)
      if (stampOf(directory) === stamp) return { ...ended, tree: fresh }
      const tree = readTree(directory)
      empty(directory)
      fill(directory)
      stamp = stampOf(directory)
      return { ...ended, tree }
    },
    async [Symbol.asyncDispose]() {
      await door.close()
      await scratch.remove()
    },
  }
}

async function collect(output: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of output) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}
