import { spawn, type SpawnOptions } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { type Rule, type Workspace, createWorkspace, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { asOwner, createScratchDirectory, give, ordinaryOwner } from '@ws/test-fixtures'

export interface Site extends AsyncDisposable {
  readonly directory: string
  readonly workspace: Workspace
}

export interface SiteOptions {
  readonly at?: '/' | '/workspace' | undefined
  readonly executors?: readonly Executor[] | undefined
  /** Default: {@link usualRules}. */
  readonly rules?: readonly Rule[] | undefined
}

/** Rules that a backend team probably has: a root, two read-only subtrees, and a denied subtree. */
export function usualRules(root: string): Rule[] {
  const below = (path: string): string => (root === '/' ? `/${path}` : `${root}/${path}`)
  return [
    rules.withinWorkspace(root),
    rules.readOnly(below('vendor')),
    rules.readOnly(below('.git/hooks')),
    rules.deny(below('secrets')),
    rules.deny(below('.env')),
  ]
}

/** Opens a workspace with policy and audit on a directory of an ordinary owner. */
export async function openSite({ at = '/workspace', executors, rules: given }: SiteOptions = {}): Promise<Site> {
  const owner = ordinaryOwner()
  const scratch = await createScratchDirectory({ owner })
  try {
    const directory = join(scratch.path, 'workspace')
    makeDirectory(directory)
    for (const name of ['vendor', 'secrets', '.git', '.git/hooks']) makeDirectory(join(directory, name))
    makeFile(join(directory, '.env'), 'KEY=value\n')
    const workspace = await createWorkspace({
      mounts: [{ at, adapter: () => createLocalAdapter({ root: directory, owner }) }],
      rules: given ?? usualRules(at),
      executors: executors ?? [],
    })
    workspace.on('access', () => undefined)
    return {
      directory,
      workspace,
      async [Symbol.asyncDispose]() {
        await workspace.close()
        await scratch.remove()
      },
    }
  } catch (error) {
    await scratch.remove()
    throw error
  }
}

/** Runs a command of a POSIX shell. @throws if the exit code is not 0 */
export async function runIn(workspace: Workspace, command = 'true'): Promise<void> {
  const { exitCode, stderr } = await workspace.exec(command, { shell: '/bin/sh', login: false })
  if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
}

/** A plain `child_process.spawn`, with the user and session of commands. @throws if the exit code is not 0 */
export function runPlainly(
  [program = '', ...parameters]: readonly string[],
  options: SpawnOptions = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      ...{ ...asOwner(), cwd: '/', env: { PATH: '/usr/bin:/bin' }, detached: true, ...options },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stdout.resume()
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('latin1')))
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`exit ${code}: ${errors.trim()}`))))
  })
}

export function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true })
  give(path)
}

export function makeFile(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content)
  give(path)
}

/** Makes directories of files. @param content by the numbers of the directory and the file; default: none */
export function makeTree(
  path: string,
  [directories, files]: readonly [directories: number, files: number],
  content: (directory: number, file: number) => string = () => '',
): void {
  for (let directory = 0; directory < directories; directory += 1) {
    makeDirectory(join(path, `d${directory}`))
    for (let file = 0; file < files; file += 1)
      makeFile(join(path, `d${directory}/f${file}.txt`), content(directory, file))
  }
}
